/* A world of ODE's, driven from Python: bodies are added one by one, then many steps are made in one call,
 * so that no time is spent outside the engine. */
#include <ode/ode.h>
#include <stdlib.h>

#define MOST_CONTACTS 16 /* per pair of geoms */

typedef struct {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    double friction;
    int quick;
    dJointID sliders[64];
    double forces[64];
    int slider_count;
} World;

static void meet(void *data, dGeomID a, dGeomID b) {
    World *w = data;
    dBodyID first = dGeomGetBody(a), second = dGeomGetBody(b);
    if (!first && !second) return;
    dContact contacts[MOST_CONTACTS];
    int count = dCollide(a, b, MOST_CONTACTS, &contacts[0].geom, sizeof(dContact));
    for (int k = 0; k < count; k++) {
        contacts[k].surface.mode = dContactApprox1;
        contacts[k].surface.mu = w->friction;
        dJointAttach(dJointCreateContact(w->world, w->contacts, &contacts[k]), first, second);
    }
}

World *world_new(const double *gravity, double friction, int quick) {
    static int ready = 0;
    if (!ready) ready = dInitODE2(0);
    World *w = calloc(1, sizeof *w);
    w->world = dWorldCreate();
    w->space = dHashSpaceCreate(0);
    w->contacts = dJointGroupCreate(0);
    w->friction = friction;
    w->quick = quick;
    dWorldSetGravity(w->world, gravity[0], gravity[1], gravity[2]);
    return w;
}

/* kind: 0 plane, 1 box, 2 sphere, 3 capsule, 4 cylinder; returns the body, null if it is fixed. */
dBodyID world_add(World *w, int kind, const double *size, double mass, const double *inertia, const double *position,
                  const double *quaternion, const double *velocity, int slides, double force) {
    dGeomID geom;
    switch (kind) {
    case 0: dCreatePlane(w->space, 0, 0, 1, 0); return 0;
    case 1: geom = dCreateBox(w->space, 2 * size[0], 2 * size[1], 2 * size[2]); break;
    case 2: geom = dCreateSphere(w->space, size[0]); break;
    case 3: geom = dCreateCapsule(w->space, size[0], 2 * size[1]); break;
    default: geom = dCreateCylinder(w->space, size[0], 2 * size[1]); break;
    }
    if (mass == 0) {
        dGeomSetPosition(geom, position[0], position[1], position[2]);
        dGeomSetQuaternion(geom, quaternion);
        return 0;
    }
    dBodyID body = dBodyCreate(w->world);
    dMass m;
    dMassSetParameters(&m, mass, 0, 0, 0, inertia[0], inertia[1], inertia[2], 0, 0, 0);
    dBodySetMass(body, &m);
    dGeomSetBody(geom, body);
    dBodySetPosition(body, position[0], position[1], position[2]);
    dBodySetQuaternion(body, quaternion);
    dBodySetLinearVel(body, velocity[0], velocity[1], velocity[2]);
    if (slides && w->slider_count < 64) {
        dJointID slider = dJointCreateSlider(w->world, 0);
        dJointAttach(slider, body, 0);
        dJointSetSliderAxis(slider, 1, 0, 0);
        w->sliders[w->slider_count] = slider;
        w->forces[w->slider_count++] = force;
    }
    return body;
}

void world_step(World *w, double dt, int count) {
    for (int k = 0; k < count; k++) {
        for (int s = 0; s < w->slider_count; s++) dJointAddSliderForce(w->sliders[s], w->forces[s]);
        dSpaceCollide(w->space, w, meet);
        if (w->quick) dWorldQuickStep(w->world, dt);
        else dWorldStep(w->world, dt);
        dJointGroupEmpty(w->contacts);
    }
}

void body_pose(dBodyID body, double *pose) {
    const dReal *p = dBodyGetPosition(body), *q = dBodyGetQuaternion(body);
    for (int k = 0; k < 3; k++) pose[k] = p[k];
    for (int k = 0; k < 4; k++) pose[3 + k] = q[k];
}

void world_free(World *w) {
    dJointGroupDestroy(w->contacts);
    dSpaceDestroy(w->space);
    dWorldDestroy(w->world);
    free(w);
}

//! Islands as problems of their own, several at a time.
//!
//! An island's answer depends on that island alone, whatever else the problem holds and however many threads there are: a model sees one island and certifies it, and where it tries one island
//! again it does not try the others. The answers are put together in the order of the islands.
//!
//! An island that is the same problem as in the last solve, from the same start, to the last bit, has the same answer: it is not solved again.

use std::collections::VecDeque;

use stiction_lcp::{Basis, InputError, Threads};

use crate::certificate::{PhysicalCertificate, Place};
use crate::islands::{Island, Islands};
use crate::mass::Layout;
use crate::model::{
    ContactFailure, ContactModel, ContactOutcome, ContactRay, ContactStats, Elapsed, Infeasible, Level, Mode,
    NoSolution, WarmStart,
};
use crate::models::catalog::ModelKind;
use crate::problem::{ContactProblem, Places, are_taken};
use crate::solution::{ContactForces, ContactSolution};

/// Rows that are worth a thread: their solve takes several times as long as to wake it.
const GRAIN: usize = 200;

/// Solutions whose storage is kept: the one being replaced, and one more.
const SPARE_OUTCOMES: usize = 2;

/// A contact model that gives another one island at a time.
pub struct SeparateIslands {
    /// One per thread.
    models: Vec<Box<dyn ContactModel>>,
    /// The model can be forked.
    forks: bool,
    threads: Threads,
    islands: Islands,
    /// Blocks without rows.
    free: Island,
    places: Places,
    /// Islands that are the same as before keep their answers.
    keeps: bool,
    /// By the first block of each island.
    parts: Vec<Part>,
    free_part: Part,
    #[expect(clippy::vec_box, reason = "they are handed out as they are")]
    spare: Vec<Box<ContactSolution>>,
}

/// An island's own problem, as it was solved last. Keeps its storage.
struct Part {
    problem: ContactProblem,
    /// Empty if there was none.
    start: WarmStart,
    outcome: Option<Result<ContactOutcome, InputError>>,
}

impl SeparateIslands {
    /// `model`, with the islands of a problem shared by `threads`. A model that cannot be [forked](ContactModel::fork) gets problems whole.
    ///
    /// With `keeps`, islands that are the same as in the last solve, to the last bit, keep their answers; without it all are solved, to the same answers.
    pub fn new(model: Box<dyn ContactModel>, threads: Threads, keeps: bool) -> Self {
        Self {
            forks: model.fork().is_some(),
            models: vec![model],
            threads,
            islands: Islands::default(),
            free: Island::default(),
            places: Places::default(),
            keeps,
            parts: Vec::new(),
            free_part: Part::default(),
            spare: Vec::new(),
        }
    }

    /// Finds the islands and what is in none; false if there are not at least two islands, or rows that move nothing, which are in no part.
    fn split(&mut self, problem: &ContactProblem) -> bool {
        let islands = self.islands.find(problem);
        let Places { blocks, contacts } = &mut self.places;
        blocks.clear();
        blocks.resize(problem.layout().blocks(), usize::MAX);
        contacts.clear();
        contacts.resize(problem.contacts().len(), 0);
        for island in islands {
            island.blocks.iter().enumerate().for_each(|(k, &b)| blocks[b] = k);
            island.contacts.iter().enumerate().for_each(|(k, &i)| contacts[i] = k);
        }
        self.free.blocks.clear();
        self.free.blocks.extend((0..blocks.len()).filter(|&b| blocks[b] == usize::MAX));
        islands.len() > 1 && islands.iter().all(|island| !island.blocks.is_empty())
    }

    /// The islands, and last what is in none, if there is something.
    fn list(&self) -> impl Iterator<Item = &Island> + Clone {
        self.islands.list().iter().chain(Some(&self.free).filter(|free| !free.blocks.is_empty()))
    }

    /// Solves every part; as many threads as are worth it.
    fn solve_parts(&mut self, problem: &ContactProblem, start: Option<&WarmStart>) {
        self.parts.resize_with(self.places.blocks.len(), Part::default);
        let rows = self.list().map(rows_of);
        let threads = self.threads.worth(rows.clone().sum::<usize>() - rows.max().unwrap_or(0), GRAIN);
        while self.models.len() < threads {
            let Some(model) = self.models[0].fork() else { break };
            self.models.push(model);
        }
        let threads = threads.min(self.models.len());
        let Self { models, islands, free, places, parts, free_part, keeps, .. } = self;
        let bases = start.is_some_and(|start| start.bases.len() == islands.list().len());
        let islands = islands.list().iter().chain([&*free]).enumerate();
        let solve = |model: &mut Box<dyn ContactModel>, ((k, island), part): ((usize, &Island), &mut Part)| {
            stiction_lcp::interrupt::check_at(k);
            let basis = start.filter(|_| bases).and_then(|start| start.bases.get(k));
            part.solve(model.as_mut(), problem, island, places, start, basis, *keeps);
        };
        let firsts = parts.iter_mut().zip(&places.blocks).filter(|(_, place)| **place == 0);
        let parts = firsts.map(|(part, _)| part).chain(Some(free_part).filter(|_| !free.blocks.is_empty()));
        let all = islands.zip(parts);
        if threads == 1 {
            return all.for_each(|part| solve(&mut models[0], part));
        }
        // The largest first, so that none is left to the end; threads begin at either end.
        let mut largest_first: Vec<_> = all.collect();
        largest_first.sort_by_key(|((_, island), _)| std::cmp::Reverse(rows_of(island)));
        let mut from_ends = VecDeque::with_capacity(largest_first.len());
        for (k, part) in largest_first.into_iter().enumerate().rev() {
            if k % 2 == 0 { from_ends.push_front(part) } else { from_ends.push_back(part) }
        }
        self.threads.share(&mut models[..threads], from_ends.into_iter(), solve);
    }

    /// The outcome for the whole problem; `None` if a part could not even be tried.
    fn put_together(&mut self, problem: &ContactProblem) -> Option<ContactOutcome> {
        let spare = self.spare.pop();
        let mut solution = spare.unwrap_or_else(|| Box::new(ContactSolution::empty(self.models[0].level())));
        let part = |island: &Island| {
            if island.contacts.is_empty() && rows_of(island) == island.blocks.len() {
                &self.free_part
            } else {
                &self.parts[island.blocks[0]]
            }
        };
        let outcome = |island: &Island| part(island).outcome.as_ref().and_then(|outcome| outcome.as_ref().ok());
        if self.list().any(|island| outcome(island).is_none()) {
            return None;
        }
        let mut stats = ContactStats::default();
        let outcomes = || self.list().filter_map(outcome);
        outcomes().for_each(|outcome| stats.add(outcome.stats()));
        let proof = outcomes().zip(self.list()).enumerate().find(|(_, (outcome, _))| outcome.answer().is_none());
        if let Some((k, (outcome, island))) = proof {
            // A proof or a ray is one island's alone: no force of another belongs to it.
            let forces = |of_island: &ContactForces| {
                let mut all = ContactForces::zeros(problem);
                all.put_part(of_island, island);
                all
            };
            return Some(match outcome.clone() {
                ContactOutcome::Infeasible(i) => {
                    ContactOutcome::Infeasible(Infeasible { multipliers: forces(&i.multipliers), stats, ..i })
                }
                ContactOutcome::NoSolution(n) => ContactOutcome::NoSolution(NoSolution { island: k, stats, ..n }),
                ContactOutcome::Ray(r) => {
                    ContactOutcome::Ray(ContactRay { direction: forces(&r.direction), stats, ..r })
                }
                solved => solved,
            });
        }
        let failed = outcomes().enumerate().find_map(|(k, outcome)| match outcome {
            ContactOutcome::Failed(failure) => Some(format!("island {k}, in its own numbers: {}", failure.why)),
            _ => None,
        });
        solution.reset(problem);
        for (outcome, island) in outcomes().zip(self.list()) {
            if let Some(part) = outcome.answer() {
                solution.put_part(part, island, problem.layout());
            }
        }
        solution.finish_parts(stats);
        Some(match failed {
            None => ContactOutcome::Solved(solution),
            Some(why) => ContactOutcome::Failed(ContactFailure { why, best: solution }),
        })
    }
}

impl ContactModel for SeparateIslands {
    fn kind(&self) -> ModelKind {
        self.models[0].kind()
    }

    fn level(&self) -> Level {
        self.models[0].level()
    }

    fn solve_from(
        &mut self,
        problem: &ContactProblem,
        start: Option<&WarmStart>,
    ) -> Result<ContactOutcome, InputError> {
        if self.forks && self.split(problem) {
            self.solve_parts(problem, start);
            if let Some(outcome) = self.put_together(problem) {
                return Ok(outcome);
            }
            // Errors name rows by their numbers in the whole.
        }
        self.models[0].solve_from(problem, start)
    }

    fn recycle(&mut self, outcome: ContactOutcome) {
        match outcome {
            ContactOutcome::Solved(solution) if self.spare.len() < SPARE_OUTCOMES => self.spare.push(solution),
            other => self.models[0].recycle(other),
        }
    }

    fn limit_work(&mut self, most: Option<usize>) -> bool {
        self.models.iter_mut().all(|model| model.limit_work(most))
    }

    fn fork(&self) -> Option<Box<dyn ContactModel>> {
        let model = self.models[0].fork()?;
        Some(Box::new(Self::new(model, self.threads, self.keeps)))
    }
}

impl Default for Part {
    fn default() -> Self {
        Self { problem: ContactProblem::empty(), start: WarmStart::default(), outcome: None }
    }
}

impl Part {
    fn solve(
        &mut self,
        model: &mut dyn ContactModel,
        whole: &ContactProblem,
        island: &Island,
        places: &Places,
        start: Option<&WarmStart>,
        basis: Option<&Basis>,
        keeps: bool,
    ) {
        let none = WarmStart::default();
        let whole_start = start.unwrap_or(&none);
        if keeps
            && matches!(self.outcome, Some(Ok(_)))
            && self.start.is_part_of(whole_start, whole, island, basis)
            && self.problem.is_part_of(whole, island, places)
        {
            if let Some(solution) = self.outcome.as_mut().and_then(|o| o.as_mut().ok()).and_then(|o| o.answer_mut()) {
                solution.stats.certificate = Elapsed::default();
            }
            return;
        }
        self.problem.take_part(whole, island, places);
        self.start.take_part(whole_start, whole, island, basis);
        if let Some(Ok(old)) = self.outcome.take() {
            model.recycle(old);
        }
        self.outcome = Some(model.solve_from(&self.problem, start.map(|_| &self.start)));
    }
}

/// Rows of an island, and its blocks: a measure of the work that it is.
fn rows_of(island: &Island) -> usize {
    3 * island.contacts.len()
        + island.bilaterals.len()
        + island.limits.len()
        + island.bounded.len()
        + island.blocks.len()
}

impl WarmStart {
    /// Becomes the part of `whole`, a start of `problem`, that belongs to an island.
    fn take_part(&mut self, whole: &Self, problem: &ContactProblem, island: &Island, basis: Option<&Basis>) {
        self.modes.clear();
        if whole.modes.len() == problem.contacts().len() {
            self.modes.extend(island.contacts.iter().map(|&i| whole.modes[i]));
        }
        self.forces.clear();
        if whole.forces.fits(problem) {
            self.forces.take_part(&whole.forces, island);
        }
        self.bases.resize_with(usize::from(basis.is_some()), Basis::default);
        self.bases.iter_mut().zip(basis).for_each(|(own, basis)| own.clone_from(basis));
    }

    /// True if this is what [`WarmStart::take_part`] would make of it, to the last bit.
    fn is_part_of(&self, whole: &Self, problem: &ContactProblem, island: &Island, basis: Option<&Basis>) -> bool {
        let has_modes = whole.modes.len() == problem.contacts().len();
        let of = if has_modes { &island.contacts[..] } else { &[] };
        self.modes.iter().eq(of.iter().map(|&i| &whole.modes[i]))
            && self.bases.iter().eq(basis)
            && if whole.forces.fits(problem) {
                self.forces.are_part_of(&whole.forces, island)
            } else {
                self.forces.all().into_iter().all(|forces| forces.is_empty())
            }
    }
}

impl ContactForces {
    /// Becomes the part of `whole` that belongs to an island.
    fn take_part(&mut self, whole: &Self, island: &Island) {
        for ((own, all), of) in self.all_mut().into_iter().zip(whole.all()).zip(Self::rows_of(island)) {
            own.clear();
            own.extend(of.iter().map(|&i| all[i]));
        }
    }

    /// True if these are the part of `whole` that belongs to an island, to the last bit.
    fn are_part_of(&self, whole: &Self, island: &Island) -> bool {
        let mut rows = self.all().into_iter().zip(whole.all()).zip(Self::rows_of(island));
        rows.all(|((own, all), of)| are_taken(own, all, of))
    }

    /// Puts the forces of an island in their places.
    fn put_part(&mut self, part: &Self, island: &Island) {
        for ((all, own), of) in self.all_mut().into_iter().zip(part.all()).zip(Self::rows_of(island)) {
            of.iter().zip(own).for_each(|(&i, p)| all[i] = *p);
        }
    }
}

impl ContactSolution {
    /// Becomes one of `problem` without forces or motion, keeping its storage.
    fn reset(&mut self, problem: &ContactProblem) {
        self.forces.reset(problem);
        self.motion.clear();
        self.motion.resize(problem.m(), 0.0);
        self.modes.clear();
        self.modes.resize(problem.contacts().len(), Mode::Open);
        self.certificate = PhysicalCertificate::default();
        self.warm_start.bases.clear();
    }

    /// Puts an island's answer in its place.
    fn put_part(&mut self, part: &Self, island: &Island, layout: &Layout) {
        self.forces.put_part(&part.forces, island);
        island.contacts.iter().zip(&part.modes).for_each(|(&i, mode)| self.modes[i] = *mode);
        let mut rest = part.motion.as_slice();
        for &b in &island.blocks {
            let (own, others) = rest.split_at(layout.size(b));
            self.motion[layout.range(b)].copy_from_slice(own);
            rest = others;
        }
        self.certificate.add_part(&part.certificate, |place| in_whole(place, island, layout));
        if rows_of(island) > island.blocks.len() {
            self.warm_start.bases.push(part.warm_start.bases.first().cloned().unwrap_or_default());
        }
    }

    /// What follows from all parts together.
    fn finish_parts(&mut self, stats: ContactStats) {
        if self.warm_start.bases.iter().all(|basis| basis.is_empty()) {
            self.warm_start.bases.clear();
        }
        self.warm_start.modes.clone_from(&self.modes);
        self.warm_start.forces.copy_from(&self.forces);
        self.stats = stats;
    }
}

/// A place within an island's own problem, in the whole.
fn in_whole(place: Place, island: &Island, layout: &Layout) -> Place {
    match place {
        Place::Velocity(mut k) => {
            for &b in &island.blocks {
                if k < layout.size(b) {
                    return Place::Velocity(layout.range(b).start + k);
                }
                k -= layout.size(b);
            }
            Place::Whole
        }
        Place::Contact(i) => Place::Contact(island.contacts[i]),
        Place::Bilateral(i) => Place::Bilateral(island.bilaterals[i]),
        Place::Limit(i) => Place::Limit(island.limits[i]),
        Place::Bounded(i) => Place::Bounded(island.bounded[i]),
        Place::Island(block) => Place::Island(island.blocks[block]),
        Place::Nowhere | Place::Whole => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mass::Mass;
    use crate::models::CoulombCone;
    use crate::problem::Contact;
    use stiction_lcp::Matrix;

    /// Particles on a floor, the first two on each other, the last one in the air; one slides, one is thrown down.
    fn particles() -> ContactProblem {
        particles_with(0.01, 1.0, |_| {})
    }

    /// The same with another step, another reach of the limit on the third, and another contact of it with the floor.
    fn particles_with(dt: f64, reach: f64, edit: impl Fn(&mut Contact<'_>)) -> ContactProblem {
        let block = |k: usize| Matrix::from_fn(3, 3, |i, j| if i == j { 1.0 + k as f64 } else { 0.0 });
        let mass = Mass::new((0..5).map(block).collect()).unwrap();
        let v = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.4, 0.0, 0.0, 0.1, -1.0, 1.0, 2.0, 3.0];
        let force: Vec<f64> = (0..15).map(|i| if i % 3 == 2 { -9.81 * (1.0 + (i / 3) as f64) } else { 0.0 }).collect();
        let mut problem = ContactProblem::new(mass, v.to_vec(), force, dt).unwrap();
        let (axes, minus) = (
            [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            [[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]],
        );
        for on in [3, 0, 2] {
            let rows = axes.each_ref().map(|axis| [(on, &axis[..])]);
            let mut contact = Contact { mu: 0.5, ..Contact::new(&rows[0], &rows[1], &rows[2]) };
            if on == 2 {
                edit(&mut contact);
            }
            problem.add_contact(contact).unwrap();
        }
        let rows: [_; 3] = std::array::from_fn(|k| [(1, &axes[k][..]), (0, &minus[k][..])]);
        problem.add_contact(Contact { mu: 0.3, ..Contact::new(&rows[0], &rows[1], &rows[2]) }).unwrap();
        problem.add_limit(&[(2, &[1.0, 0.0, 0.0])], reach, 0.0, 0.0).unwrap();
        problem
    }

    #[test]
    fn islands_apart_come_to_the_same_bits_as_together() {
        let problem = particles();
        let mut together = CoulombCone::default();
        let first = together.solve(&problem).unwrap();
        let start = &first.solved().unwrap().warm_start;
        for start in [None, Some(start)] {
            let expected = together.solve_from(&problem, start).unwrap();
            for threads in [1, 2, 4] {
                let mut apart =
                    SeparateIslands::new(Box::new(CoulombCone::default()), Threads::new(threads), threads != 2);
                for _ in 0..3 {
                    let outcome = apart.solve_from(&problem, start).unwrap();
                    assert_eq!(outcome, expected);
                    apart.recycle(outcome);
                }
            }
        }
    }

    #[test]
    fn an_island_is_kept_only_if_all_of_it_is_the_same() {
        let whole = particles();
        let mut apart = SeparateIslands::new(Box::new(CoulombCone::default()), Threads::new(1), true);
        assert!(apart.split(&whole));
        let (islands, places) = (apart.islands.list().to_vec(), apart.places.clone());
        let parts: Vec<ContactProblem> = islands
            .iter()
            .map(|island| {
                let mut part = ContactProblem::empty();
                part.take_part(&whole, island, &places);
                part
            })
            .collect();
        let kept = |whole: &ContactProblem| -> Vec<bool> {
            parts.iter().zip(&islands).map(|(part, island)| part.is_part_of(whole, island, &places)).collect()
        };
        assert_eq!(kept(&whole), [true; 3]);
        assert_eq!(kept(&particles_with(0.02, 1.0, |_| {})), [false; 3]);
        // What follows changes the island of the third particle alone, which is the second one.
        let next = |x: f64| f64::from_bits(x.to_bits() + 1);
        let (mut v, mut force) = (whole.v().to_vec(), whole.force().to_vec());
        let mut changed = vec![particles_with(0.01, next(1.0), |_| {})];
        v[6] = next(v[6]);
        changed.push(whole.clone());
        changed[1].set_motion(&v, whole.force()).unwrap();
        force[7] = -0.0;
        changed.push(whole.clone());
        changed[2].set_motion(whole.v(), &force).unwrap();
        let mut blocks: Vec<Matrix> = (0..5).map(|b| whole.mass().block(b).clone()).collect();
        blocks[2][(1, 1)] = next(blocks[2][(1, 1)]);
        changed.push(whole.clone());
        changed[3].set_mass(&blocks).unwrap();
        let edits: [&dyn Fn(&mut Contact<'_>); 8] = [
            &|c| c.mu = next(c.mu),
            &|c| c.gap = -0.0,
            &|c| c.size = next(c.size),
            &|c| c.bounce = 1e-300,
            &|c| c.predicted = true,
            &|c| c.rate[1] = 1e-300,
            &|c| c.surface[1] = 1e-300,
            &|c| c.normal = &[(2, &[0.0, -0.0, 1.0])],
        ];
        changed.extend(edits.map(|edit| particles_with(0.01, 1.0, edit)));
        for (k, problem) in changed.iter().enumerate() {
            assert_eq!(kept(problem), [true, false, true], "change {k}");
        }
    }

    #[test]
    fn proofs_and_errors_are_those_of_the_whole() {
        let mut problem = particles();
        problem.add_bilateral(&[(2, &[0.0, 0.0, 1.0])], 0.0, -1.0).unwrap();
        let mut apart = SeparateIslands::new(Box::new(CoulombCone::default()), Threads::new(2), true);
        match apart.solve(&problem).unwrap() {
            ContactOutcome::Infeasible(i) => {
                assert!(i.multipliers.fits(&problem) && i.multipliers.normal[2] > 0.0);
                assert_eq!(i.multipliers.normal[..2], [0.0; 2]);
            }
            other => panic!("{other:?}"),
        }
        let axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let rows = axes.each_ref().map(|axis| [(4, &axis[..])]);
        let contact = Contact::new(&rows[0], &rows[1], &rows[2]);
        problem.add_contact(Contact { mu_viscous: 1.0, ..contact }).unwrap();
        assert!(apart.solve(&problem).unwrap_err().to_string().contains("contact 4"));
    }
}

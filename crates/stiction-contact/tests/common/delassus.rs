//! Contact problems solved by their Delassus operator: other unknowns than those of the model, formed here from the rows.

use stiction_contact::{ContactProblem, CoulombCone, FrictionProblem, Level, Rows, SparseMatrix};
use stiction_lcp::Matrix;

/// Rows below this part of their own size, less what the rows before them have of it, depend on these.
const DEPENDENT: f64 = 1e-9;

/// The motion of a problem that has contacts without moments, and bilateral rows, alone.
pub fn motion(problem: &ContactProblem, level: Level) -> Vec<f64> {
    let (contacts, layout, m) = (problem.contacts(), problem.layout(), problem.m());
    assert_eq!((problem.limits().rows.len(), problem.bounded().rows.len()), (0, 0));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let axpy = |k: f64, a: &[f64], b: &mut [f64]| a.iter().zip(b).for_each(|(a, b)| *b += k * a);
    let dense = |rows: &Rows, i: usize| {
        let mut row = vec![0.0; m];
        rows.row(i).for_each(|(block, values)| row[layout.range(block)].copy_from_slice(values));
        row
    };
    // Bilateral rows, each with what its force moves where those before it hold.
    let mut held: Vec<(Vec<f64>, Vec<f64>)> = vec![];
    let project = |held: &[(Vec<f64>, Vec<f64>)], x: &mut [f64]| {
        for (row, column) in held {
            axpy(-dot(row, x) / dot(row, column), column, x);
        }
    };
    let mut free = problem.force().to_vec();
    problem.mass().solve(&mut free);
    if level == Level::Velocity {
        free.iter_mut().zip(problem.v()).for_each(|(a, v)| *a = v + problem.dt() * *a);
    }
    let bilaterals = problem.bilaterals();
    for i in 0..bilaterals.rows.len() {
        let row = dense(&bilaterals.rows, i);
        let mut column = row.clone();
        problem.mass().solve(&mut column);
        let size = dot(&row, &column);
        project(&held, &mut column);
        if dot(&row, &column) > DEPENDENT * size {
            let rate = if level == Level::Velocity { 0.0 } else { bilaterals.rate[i] };
            let wrong = dot(&row, &free) + rate - bilaterals.target[i];
            axpy(-wrong / dot(&row, &column), &column, &mut free);
            held.push((row, column));
        }
    }
    let (mut rows, mut columns, mut q, mut mu) = (vec![], vec![], vec![], vec![]);
    for i in 0..contacts.len() {
        if level == Level::Acceleration && (!contacts.touches(i) || problem.parts(i)) {
            continue;
        }
        let [s, t] = contacts.surface[i];
        let bias = match level {
            Level::Velocity => [contacts.separation_bias(i, problem.dt()), s, t],
            Level::Acceleration => contacts.rate[i],
        };
        let first = columns.len();
        for (kind, bias) in [&contacts.normal, &contacts.tangent_s, &contacts.tangent_t].into_iter().zip(bias) {
            let mut row = dense(kind, i);
            q.push(dot(&row, &free) + bias);
            rows.push(row.clone());
            problem.mass().solve(&mut row);
            project(&held, &mut row);
            columns.push(row);
        }
        let [s, t, _] = problem.slip(i);
        mu.push(contacts.mu[i]);
        if level == Level::Acceleration && (s, t) != (0.0, 0.0) {
            // Its friction comes with the normal force.
            for (k, slip) in [(1, s), (2, t)] {
                let (normal, tangent) = columns[first..].split_at_mut(k);
                let part = -contacts.mu[i] * slip / s.hypot(t);
                axpy(part, &tangent[0], &mut normal[0]);
            }
            *mu.last_mut().unwrap() = 0.0;
        }
    }
    let n = q.len();
    let w = SparseMatrix::from_dense(&Matrix::from_fn(n, n, |i, j| dot(&rows[i], &columns[j]))).unwrap();
    let friction = FrictionProblem::new(3, w, q, mu).unwrap();
    let outcome = CoulombCone::default().solve_friction(&friction, None).unwrap();
    let solution = outcome.solved().unwrap_or_else(|| panic!("{}", outcome.certificate()));
    columns.iter().zip(&solution.r).for_each(|(column, p)| axpy(*p, column, &mut free));
    free
}

//! Tolerances of the search on the velocities.
//!
//! Errors are those of [`super::measure`], as the certificate measures them; τ is the mean product of the pairs of the smooth laws, in units of the
//! island's own speeds; α is the compliance of a contact beside its own inertia.

stiction_lcp::tolerances! {
    /// Tolerances of the cone's search on the velocities. None decides what is certified.
    Tolerances {
        /// α of the semismooth Newton method: it keeps redundant forces where they are. Its rounding is divided by it; more slows the method down.
        semismooth_alpha = 1e-7,
        /// α of the systems of states that the path indicates. Larger than the one above, because such states may contradict each other.
        polish_alpha = 1e-6,
        /// α of the system of states that are given, for a few bodies; small enough to contract, large enough for the factor's rounding.
        finish_alpha = 1e-7,
        /// The least α of proximal steps.
        proximal_alpha = 1e-5,
        /// α of the path at its start; it grows where rounding stops the path. More slows its end down.
        path_alpha = 1e-11,
        /// Error of a guess, but for those of robots, above which steps from it are of no use: one in ten succeeds there.
        guess_error = 1e-2,
        /// Forces of a guess beside the velocities of the island, above which they are not used as a start.
        guess_size = 10.0,
        /// τ below which states that two iterations indicate are tried. More tries states that are wrong yet, less goes on where they are known.
        indicated_tau = 1e-8,
        /// States that failed are tried again when τ has fallen to this part.
        retried_tau = 1e-2,
        /// Error from which on the states of a solved system are repaired one by one: what is wrong near the end is wrong by little.
        repaired_error = 1e-5,
        /// τ below which the point of the path may be the answer itself.
        answer_tau = 1e-11,
        /// τ below which rounding is why a path stalls, and α grows.
        rounding_tau = 1e-7,
        /// τ below which a path that does not end is left for proximal steps.
        proximal_tau = 1e-5,
        /// How far forces are moved past the next change of a state, beside the way to it.
        past_state = 1e-6,
        /// Error below which the path starts again near the best point.
        restart_error = 1e-3,
        /// Error beside what is wanted below which an answer is left to the certificate, whose measure is the finer one.
        certified_error = 100.0,
        /// Error of an answer above which one more factor is worth its work.
        refactored_error = 1e-13,
        /// Error of an answer that nothing is gained by improving.
        rounding_error = 1e-15,
        /// τ below which motions are found in twice the working precision.
        doubled_tau = 1e-8,
        /// τ below which long steps lower it more slowly: there redundant contacts contradict each other.
        noise_tau = 1e-6,
        /// The path ends at this τ: a pair whose members both vanish has the square root of it left.
        least_tau = 1e-24,
        /// Relative change along the tangent below which a step is too short to go on.
        shortest_step = 1e-6,
        /// Normal force beside the separation velocity of a contact that parts.
        parting_force = 1e-3,
        /// Error after the first step from which on given states with sliding are taken to be wrong.
        wrong_states = 1e-3,
        /// Friction within this part of its limit is at it.
        at_limit = 1e-9,
        /// Residual, beside the size of the problem, below which a step that brings nothing is lost in rounding.
        lost_in_rounding = 1e-12,
    }
}

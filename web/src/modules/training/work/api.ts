/** Runs as work under way, for who lists all of that; they are on no first screen. */
export { recentRunsQuery, useRunWork } from '../runs/use-run-work.ts';

/** Generations as work under way, for who lists all of that; they are on no first screen. */
export { generationWorkQuery } from '../generation-queries.ts';
export { useGenerationWork } from '../use-generation-work.ts';

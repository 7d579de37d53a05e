import * as z from 'zod';

/** Returns the schema of an id. `noun` is for the error: 'No run has this id'. */
export const idOf = (noun: string) => z.uuid(`No ${noun} has this id`);

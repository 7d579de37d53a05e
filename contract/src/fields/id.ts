import * as z from 'zod';

/** Returns the schema of an id. The error contains `noun`, as in 'No run has this id'. */
export const idOf = (noun: string) => z.uuid(`No ${noun} has this id`);

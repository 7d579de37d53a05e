import * as z from 'zod';

/** The id of one thing; `noun` names it where the text is no id at all: 'No run has this id'. */
export const idOf = (noun: string) => z.uuid(`No ${noun} has this id`);

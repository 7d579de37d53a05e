import type pg from 'pg';
import { AppError } from '../../errors.ts';
import { ping } from '../database.ts';

/** Throws AppError 'unavailable' unless the database answers: after a failure of a library that does not say of what. */
export async function requireDatabase(pool: pg.Pool): Promise<void> {
  await ping(pool).catch((cause: unknown) => {
    throw new AppError('unavailable', {
      publicMessage: 'The database does not answer. Try again in a moment',
      cause,
    });
  });
}

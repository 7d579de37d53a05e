import type pg from 'pg';
import { AppError } from '../../errors.ts';
import { ping } from '../database.ts';

/** Throws AppError 'unavailable' if the database is down. For library errors that may hide an outage. */
export async function requireDatabase(pool: pg.Pool): Promise<void> {
  await ping(pool).catch((cause: unknown) => {
    throw new AppError('unavailable', {
      publicMessage: 'The database does not answer. Try again in a moment',
      cause,
    });
  });
}

import { AppError } from '../../../platform/errors.ts';

/** PostgreSQL's code for a parameter value that it does not know. */
const INVALID_PARAMETER_VALUE = '22023';

/** Passes a query's rows on. Throws `invalid_request` where the database has no time zone of the query's name. */
export async function knownTimeZone<Rows>(rows: Promise<Rows>): Promise<Rows> {
  try {
    return await rows;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === INVALID_PARAMETER_VALUE)) throw error;
    throw new AppError('invalid_request', {
      publicMessage: 'Unknown time zone. Use a name such as Europe/Berlin',
      param: 'time_zone',
      cause: error,
    });
  }
}

import { AppError } from '../../../platform/errors.ts';

/** PostgreSQL's code for an unknown parameter value. */
const INVALID_PARAMETER_VALUE = '22023';

/** Returns a query's rows. Throws `invalid_request` if the database does not know the query's time zone. */
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

/** An error that the user at the terminal can fix: printed as its sentence, without a stack. */
export class PlainError extends Error {}

/** Converts errors to PlainError, with a store's message for the operator instead of its public one. */
export async function toPlainErrors<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new PlainError(cause instanceof Error ? cause.message : String(cause));
  });
}

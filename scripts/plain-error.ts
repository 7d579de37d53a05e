/** An error that the user at the terminal can fix. Printed as a sentence, without a stack. */
export class PlainError extends Error {}

/** Converts errors to PlainError. Uses the message of the cause if there is one: it is for the operator. */
export async function toPlainErrors<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new PlainError(cause instanceof Error ? cause.message : String(cause));
  });
}

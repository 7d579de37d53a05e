/** Something that the person at the terminal can act on: printed as its sentence, without a stack. */
export class PlainError extends Error {}

/** Turns what the work throws into one. What a store says of itself to the operator stands behind what it says to people. */
export async function plainly<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new PlainError(cause instanceof Error ? cause.message : String(cause));
  });
}

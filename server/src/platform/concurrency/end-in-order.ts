/** Runs all steps sequentially, even if one fails. Throws the error, or an AggregateError for several. */
export async function endInOrder(steps: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} steps of the end failed`);
  if (errors.length === 1) throw errors[0];
}

/**
 * Takes each step when the one before it has ended, and all of them: one that fails, e.g. because the database is
 * away, keeps none of those behind it from its work. Throws what failed, as it is where it is one error alone.
 */
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

/** Whether PostgreSQL refused a change because another row refers to the changed one. */
export function isForeignKeyError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '23503';
}

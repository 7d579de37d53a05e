type Option<Value extends string> = { value: Value; label: string; disabled?: boolean };

/**
 * The choice that what is typed leads to, as in a list of the browser's own: the first from the present one on whose label
 * begins with it, and the next of them for the same letter again; undefined where none does.
 */
export function findTyped<Value extends string>(
  options: readonly Option<Value>[],
  value: Value | null,
  typed: string,
): Value | undefined {
  const isOneLetter = new Set(typed.toLowerCase()).size === 1;
  const start = (isOneLetter ? typed.slice(0, 1) : typed).toLowerCase();
  // A word that goes on may still mean the present choice.
  const from = options.findIndex((option) => option.value === value) + (isOneLetter ? 1 : 0);
  const at = Math.max(0, from);
  return [...options.slice(at), ...options.slice(0, at)].find(
    ({ label, disabled }) => !disabled && label.toLowerCase().startsWith(start),
  )?.value;
}

type Option<Value extends string> = { value: Value; label: string; disabled?: boolean };

/**
 * Finds the option for typed text as a native select does: the first option, starting at the current one,
 * whose label starts with the text. Repeating one letter cycles through the matches.
 */
export function findTyped<Value extends string>(
  options: readonly Option<Value>[],
  value: Value | null,
  typed: string,
): Value | undefined {
  const isOneLetter = new Set(typed.toLowerCase()).size === 1;
  const start = (isOneLetter ? typed.slice(0, 1) : typed).toLowerCase();
  // Several letters may still match the current option; a single letter moves past it.
  const from = options.findIndex((option) => option.value === value) + (isOneLetter ? 1 : 0);
  const at = Math.max(0, from);
  return [...options.slice(at), ...options.slice(0, at)].find(
    ({ label, disabled }) => !disabled && label.toLowerCase().startsWith(start),
  )?.value;
}

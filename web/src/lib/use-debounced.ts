import { useEffect, useState } from 'react';

/** Milliseconds after the last letter before the server is asked. */
const DEBOUNCE_MS = 300;

/** What was typed, once nothing more has come for a moment. What is there when it is first `enabled` is taken at once. */
export function useDebounced(text: string, enabled = true): string {
  const [settled, setSettled] = useState(enabled ? text : null);
  if (enabled && settled === null) setSettled(text);
  useEffect(() => {
    if (!enabled) return;
    const timer = setTimeout(() => setSettled(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, enabled]);
  return settled ?? text;
}

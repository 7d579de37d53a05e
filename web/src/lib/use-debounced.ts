import { useEffect, useState } from 'react';

/** Milliseconds after the last letter before the server is asked. */
const DEBOUNCE_MS = 300;

/** What was typed, once nothing more has come for a moment; at once what is there when it begins to count. */
export function useDebounced(text: string, counts = true): string {
  const [settled, setSettled] = useState(counts ? text : null);
  if (counts && settled === null) setSettled(text);
  useEffect(() => {
    if (!counts) return;
    const timer = setTimeout(() => setSettled(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, counts]);
  return settled ?? text;
}

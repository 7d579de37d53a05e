import { useEffect, useState } from 'react';

/** Milliseconds after the last letter before the server is asked. */
const DEBOUNCE_MS = 300;

/** What was typed, once nothing more has come for a moment. */
export function useDebounced(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

import { useEffect, useState } from 'react';

/** Milliseconds after the last keystroke before a request is sent. */
const DEBOUNCE_MS = 300;

/** Returns the text debounced. The text present when first `enabled` is returned immediately. */
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

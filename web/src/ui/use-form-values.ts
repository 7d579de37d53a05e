import { useState } from 'react';

/** The values of a form, what it began with, and what of it was changed: what was not may be newer elsewhere by now. */
export function useFormValues<Values extends object>(initial: () => Values) {
  const [begun] = useState(initial);
  const [values, setValues] = useState(begun);
  const changes: Partial<Values> = {};
  for (const field of Object.keys(values) as (keyof Values)[]) {
    if (JSON.stringify(values[field]) !== JSON.stringify(begun[field])) changes[field] = values[field];
  }
  return { begun, values, setValues, changes, isChanged: Object.keys(changes).length > 0 };
}

import { useState } from 'react';

/** The values of a form, what it began with, and whether anything was changed. */
export function useFormValues<Values extends object>(initial: () => Values) {
  const [begun] = useState(initial);
  const [values, setValues] = useState(begun);
  return { begun, values, setValues, isChanged: JSON.stringify(values) !== JSON.stringify(begun) };
}

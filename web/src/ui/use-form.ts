import { type FormEvent, useRef, useState } from 'react';
import { focusFirstInvalid } from './focus-first-invalid.ts';

export type Problems<Values> = { [Field in keyof Values]?: string | undefined };

type Options<Values> = {
  /** Initial values. */
  initial: () => Values;
  /** Validates the values; returns error messages by field. */
  problemsOf?: (values: Values) => Problems<Values>;
  /**
   * Validates on submit only, for checks against the clock, a balance or a partly typed date. The errors stay
   * until a change.
   */
  problemsOnSubmit?: (values: Values, form: HTMLFormElement, begun: Values) => Problems<Values>;
  /** Called with valid values. */
  onSubmit: (values: Values) => void;
};

/**
 * Form state. Shows no errors before the first submit, which focuses the first invalid field; after that,
 * validates on every change.
 */
export function useForm<Values extends object>({
  initial,
  problemsOf = () => ({}),
  problemsOnSubmit = () => ({}),
  onSubmit,
}: Options<Values>) {
  const [begun] = useState(initial);
  const [values, setValues] = useState(begun);
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<Problems<Values>>({});
  const form = useRef<HTMLFormElement>(null);
  const found = problemsOf(values);
  const isChanged = (field: keyof Values) => JSON.stringify(values[field]) !== JSON.stringify(begun[field]);
  const changed = (Object.keys(values) as (keyof Values)[]).filter(isChanged);
  return {
    values,
    problems: { ...(tried ? found : {}), ...refused },
    /** Only changed fields: unchanged ones may have newer values on the server. */
    changes: Object.fromEntries(changed.map((field) => [field, values[field]])) as Partial<Values>,
    isDirty: changed.length > 0,
    change: (next: Partial<Values>) => {
      setValues((current) => ({ ...current, ...next }));
      setRefused({});
    },
    onSubmit: (event: FormEvent<HTMLFormElement>) => {
      event.preventDefault();
      form.current = event.currentTarget;
      const foundNow = problemsOnSubmit(values, event.currentTarget, begun);
      focusFirstInvalid(event.currentTarget, () => {
        setTried(true);
        setRefused(foundNow);
      });
      if (![...Object.values(found), ...Object.values(foundNow)].some(Boolean)) onSubmit(values);
    },
    /** Shows errors from the server until the next change. */
    refuse: (problems: Problems<Values>) => {
      if (form.current) focusFirstInvalid(form.current, () => setRefused(problems));
    },
    reset: () => {
      setValues(begun);
      setTried(false);
      setRefused({});
    },
  };
}

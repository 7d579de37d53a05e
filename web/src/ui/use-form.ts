import { type FormEvent, useRef, useState } from 'react';
import { focusFirstInvalid } from './focus-first-invalid.ts';

export type Problems<Values> = { [Field in keyof Values]?: string | undefined };

type Options<Values> = {
  /** What the fields begin with. */
  initial: () => Values;
  /** What is wrong with the fields, in words. Pure. */
  problemsOf?: (values: Values) => Problems<Values>;
  /** What is wrong at a submit, and said until something is changed: by the clock, a balance, or half a date in a field. */
  problemsOnSubmit?: (values: Values, form: HTMLFormElement, begun: Values) => Problems<Values>;
  /** Called with values in which nothing is wrong. */
  onSubmit: (values: Values) => void;
};

/**
 * The values of a form. Nothing is said to be wrong before the first submit, which puts the focus on the first wrong field;
 * from then on what `problemsOf` finds follows the typing.
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
    /** Those to show. */
    problems: { ...(tried ? found : {}), ...refused },
    /** The fields that are not as they were: what was not changed may be newer elsewhere by now. */
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
    /** What the server says is wrong, until something is changed. */
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

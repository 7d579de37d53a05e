import { type FormEvent, useRef, useState } from 'react';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { errorMessage } from '../../../ui/notify.ts';

/** Sentences by field name; `form` is about the whole. */
export type FormErrors = Partial<Record<string, string>>;

type Input<Values> = {
  /** Names what is wrong, or nothing. */
  check: (values: Record<string, string>) => Promise<{ values: Values } | { errors: FormErrors }>;
  submit: (values: Values) => Promise<void>;
  /** The field that a refusal of the server is about. */
  fieldOf?: (error: unknown) => string | null;
  /** A plainer sentence for a refusal; null for the error's own. */
  textOf?: (error: unknown) => string | null;
};

/**
 * The state of the forms for sign-in, sign-up and passwords. They stand on the first screen, so the rules of one are loaded
 * with its first check; the fields keep their own text, which a password manager may have filled in.
 */
export function useAccountForm<Values>({ check, submit, fieldOf, textOf }: Input<Values>) {
  const [errors, setErrors] = useState<FormErrors>({});
  const [pending, setPending] = useState(false);
  // Two submissions can come before the button has heard of the first.
  const underWay = useRef(false);

  async function run(form: HTMLFormElement) {
    underWay.current = true;
    setPending(true);
    try {
      const texts = [...new FormData(form)].filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      );
      const checked = await check(Object.fromEntries(texts));
      if ('errors' in checked) return refuse(form, checked.errors);
      setErrors({});
      await submit(checked.values);
    } catch (error) {
      refuse(form, { [fieldOf?.(error) ?? 'form']: textOf?.(error) ?? errorMessage(error) });
    } finally {
      underWay.current = false;
      setPending(false);
    }
  }

  function refuse(form: HTMLFormElement, found: FormErrors) {
    focusFirstInvalid(form, () => setErrors(found));
  }

  function onSubmit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!underWay.current) void run(event.currentTarget);
  }

  return { errors, pending, onSubmit };
}

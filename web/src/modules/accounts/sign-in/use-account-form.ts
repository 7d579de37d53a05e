import { type FormEvent, useRef, useState } from 'react';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { errorMessage } from '../../../ui/notify.ts';

/** Messages by field name; `form` is the message for the whole form. */
export type FormErrors = Partial<Record<string, string>>;

type Input<Values> = {
  /** Returns the valid values or the problems. */
  check: (values: Record<string, string>) => Promise<{ values: Values } | { errors: FormErrors }>;
  submit: (values: Values) => Promise<void>;
  /** Returns the field that a server error is about. */
  fieldOf?: (error: unknown) => string | null;
  /** Returns a message that replaces the server's; null to show the server's. */
  textOf?: (error: unknown) => string | null;
};

/**
 * State of the forms for sign-in, sign-up and passwords. They are on the first screen, so their validation
 * rules are loaded with the first check. The fields are uncontrolled, because a password manager may have
 * filled them in.
 */
export function useAccountForm<Values>({ check, submit, fieldOf, textOf }: Input<Values>) {
  const [errors, setErrors] = useState<FormErrors>({});
  const [pending, setPending] = useState(false);
  // A ref, because two submissions can arrive before the button is disabled.
  const underWay = useRef(false);

  async function run(form: HTMLFormElement) {
    underWay.current = true;
    setPending(true);
    try {
      const texts = [...new FormData(form)].filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      );
      const checked = await check(Object.fromEntries(texts));
      if ('errors' in checked) return showErrors(form, checked.errors);
      setErrors({});
      await submit(checked.values);
    } catch (error) {
      showErrors(form, { [fieldOf?.(error) ?? 'form']: textOf?.(error) ?? errorMessage(error) });
    } finally {
      underWay.current = false;
      setPending(false);
    }
  }

  function showErrors(form: HTMLFormElement, found: FormErrors) {
    focusFirstInvalid(form, () => setErrors(found));
  }

  function onSubmit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!underWay.current) void run(event.currentTarget);
  }

  return { errors, pending, onSubmit };
}

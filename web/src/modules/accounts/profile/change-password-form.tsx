import { useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Field } from '../../../ui/field.tsx';
import { notify } from '../../../ui/notify.ts';
import { PasswordInput } from '../password-input.tsx';
import { isCommonPassword, passwordProblem } from '../sign-in/check-password.ts';
import { useAccountForm } from '../sign-in/use-account-form.ts';
import { changePassword } from './profile-calls.ts';

type Passwords = { current: string; next: string };

/** Changes the password of a user who knows the current one. */
export function ChangePasswordForm() {
  // Used as React key: a new value clears the fields.
  const [round, setRound] = useState(0);
  const [endsKeys, setEndsKeys] = useState(false);
  const { errors, pending, onSubmit } = useAccountForm<Passwords>({
    check: async ({ current = '', next = '' }) => {
      const refusal = passwordProblem(next);
      return current && !refusal
        ? { values: { current, next } }
        : {
            errors: {
              ...(!current && { current: 'Enter your current password' }),
              ...(refusal && { next: refusal }),
            },
          };
    },
    submit: async ({ current, next }) => {
      await changePassword(current, next, { endsKeys });
      notify.success('Your password was changed', {
        description: `You have been signed out in all other browsers${endsKeys ? ', and your API keys were revoked' : ''}.`,
      });
      setEndsKeys(false);
      setRound((before) => before + 1);
    },
    fieldOf: (error) => (isWrongPassword(error) ? 'current' : isCommonPassword(error) ? 'next' : null),
    textOf: (error) => (isWrongPassword(error) ? 'This is not your current password' : null),
  });
  return (
    <form key={round} noValidate onSubmit={onSubmit} className="grid max-w-sm gap-4">
      {errors.form && <Callout tone="bad">{errors.form}</Callout>}
      <Field label="Current password" error={errors.current}>
        <PasswordInput name="current" autoComplete="current-password" />
      </Field>
      <Field
        label="New password"
        error={errors.next}
        help={`${errors.next ? '' : 'At least 8 characters. '}You will be signed out in all other browsers.`}
      >
        <PasswordInput name="next" autoComplete="new-password" />
      </Field>
      <Checkbox
        checked={endsKeys}
        onChange={setEndsKeys}
        label="Also revoke my API keys. Programs that use them stop working."
      />
      <div>
        <Button type="submit" variant="primary" loading={pending}>
          Change password
        </Button>
      </div>
    </form>
  );
}

function isWrongPassword(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'invalid_password';
}

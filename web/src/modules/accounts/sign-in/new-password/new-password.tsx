import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { Button } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { Field } from '../../../../ui/field.tsx';
import { Input } from '../../../../ui/input.tsx';
import { notify } from '../../../../ui/notify.ts';
import { emailProblem, isCommonPassword, passwordProblem } from '../check-account.ts';
import { requestPasswordReset, resetPassword, signInMethodsQuery } from '../sign-in-calls.ts';
import { useAccountForm } from '../use-account-form.ts';

/** Requests a link to choose a new password. */
export function ForgotPasswordForm() {
  const [asked, setAsked] = useState(false);
  const { errors, pending, onSubmit } = useAccountForm<string>({
    check: async ({ email = '' }) => {
      const refusal = emailProblem(email);
      return refusal ? { errors: { email: refusal } } : { values: email.trim() };
    },
    submit: async (email) => {
      await requestPasswordReset(email);
      setAsked(true);
    },
  });
  const sendsMail = useQuery(signInMethodsQuery).data?.sends_mail;
  if (asked) {
    if (sendsMail === undefined)
      return (
        <Callout title="Your request was received">
          If there is an account with this address, a link to choose a new password has been created. Check
          your mail, or ask the operator of this server.
        </Callout>
      );
    return sendsMail ? (
      <Callout title="Check your mail">
        If there is an account with this address, the link is on its way. It works for an hour.
      </Callout>
    ) : (
      <Callout title="Ask the operator for your link">
        If there is an account with this address, the link is now in the server’s log.
      </Callout>
    );
  }
  return (
    <form noValidate onSubmit={onSubmit} className="grid gap-4">
      {errors.form && <Callout tone="bad">{errors.form}</Callout>}
      <Field label="Email" error={errors.email} help={helpOf(sendsMail)}>
        <Input name="email" type="email" autoComplete="email" />
      </Field>
      <Button type="submit" variant="primary" loading={pending} className="mt-1">
        Request a link
      </Button>
    </form>
  );
}

/** Undefined while it is unknown if the server sends email. */
function helpOf(sendsMail: boolean | undefined): string | undefined {
  if (sendsMail === undefined) return undefined;
  return sendsMail
    ? 'We will send you a link to choose a new password.'
    : 'This server sends no email. Its operator will give you the link.';
}

type Props = {
  /** From the link. */
  token: string;
  onDone: () => Promise<void>;
  /** Called if the link was used before or has expired. */
  onSpent: () => void;
};

/** The target of the link for a new password. */
export function NewPasswordForm({ token, onDone, onSpent }: Props) {
  const { errors, pending, onSubmit } = useAccountForm<string>({
    check: async ({ password = '' }) => {
      const refusal = passwordProblem(password);
      return refusal ? { errors: { password: refusal } } : { values: password };
    },
    submit: async (password) => {
      try {
        await resetPassword(password, token);
      } catch (error) {
        if (error instanceof ApiError && error.code === 'invalid_token') return onSpent();
        throw error;
      }
      notify.success('Your password was changed', {
        description:
          'Sign in with the new one. Your API keys were replaced or revoked, and linked sign-in methods removed.',
      });
      await onDone();
    },
    fieldOf: (error) => (isCommonPassword(error) ? 'password' : null),
  });
  return (
    <form noValidate onSubmit={onSubmit} className="grid gap-4">
      {errors.form && <Callout tone="bad">{errors.form}</Callout>}
      <Field
        label="New password"
        error={errors.password}
        help={
          errors.password
            ? undefined
            : 'At least 8 characters. Changing it ends all sessions, revokes all API keys and removes linked sign-in methods.'
        }
      >
        <Input name="password" type="password" autoComplete="new-password" />
      </Field>
      <Button type="submit" variant="primary" loading={pending} className="mt-1">
        Change password
      </Button>
    </form>
  );
}

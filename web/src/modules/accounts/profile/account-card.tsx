import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { Checkbox } from '../../../ui/checkbox.tsx';
import { Field } from '../../../ui/field.tsx';
import { Figure } from '../../../ui/figure.tsx';
import { focusFirstInvalid } from '../../../ui/focus.ts';
import { Input } from '../../../ui/input.tsx';
import { errorMessage, notify } from '../../../ui/notify.ts';
import { nameProblem } from '../../../ui/text-problems.ts';
import { Avatar, pictureOf } from '../avatar.tsx';
import { useUser } from '../session.ts';
import { isCommonPassword, passwordProblem } from '../sign-in/check-account.ts';
import { signInMethodsQuery } from '../sign-in/sign-in-calls.ts';
import { useAccountForm } from '../sign-in/use-account-form.ts';
import { changePassword, sendConfirmation, useUpdateProfile } from './profile-calls.ts';

/** The account: picture, name, username and address. */
export function AccountCard() {
  const user = useUser();
  return (
    <Card title="Account">
      <div className="grid gap-6">
        <Picture />
        <NameForm name={user.name} />
        <dl className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
          <Figure
            label="Username"
            note="Other users can send you credits by this name. It cannot be changed."
          >
            {user.username}
          </Figure>
          <Figure label="Email" note={!user.email_verified && <ConfirmAddress email={user.email} />}>
            <span className="flex flex-wrap items-center gap-2">
              {user.email}
              {user.email_verified && <Badge tone="good">Confirmed</Badge>}
            </span>
          </Figure>
        </dl>
      </div>
    </Card>
  );
}

function Picture() {
  const user = useUser();
  const input = useRef<HTMLInputElement>(null);
  const update = useUpdateProfile({ inPlace: true });
  const hasPicture = pictureOf(user) !== null;

  async function take(file: File | undefined) {
    if (!file) return;
    update.mutate({ picture: file });
    if (input.current) input.current.value = '';
  }

  return (
    <div className="flex flex-wrap items-center gap-4">
      <Avatar user={user} className="size-16 text-xl" />
      <div className="grid gap-1.5">
        <div className="flex flex-wrap gap-2">
          <Button size="sm" loading={update.isPending} onClick={() => input.current?.click()}>
            {hasPicture ? 'Change picture' : 'Upload a picture'}
          </Button>
          {hasPicture && (
            <Button
              size="sm"
              variant="ghost"
              disabled={update.isPending}
              onClick={() => update.mutate({ picture: null })}
            >
              Remove
            </Button>
          )}
        </div>
        <p className="text-[0.8125rem] text-muted">PNG, JPEG, WebP or GIF. It is cropped to a square.</p>
        {update.error && (
          <p role="alert" className="text-[0.8125rem] text-bad">
            {errorMessage(update.error)}
          </p>
        )}
      </div>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/webp,image/gif"
        aria-label="Picture"
        tabIndex={-1}
        className="sr-only"
        onChange={(event) => void take(event.target.files?.[0])}
      />
    </div>
  );
}

/** Requests the link that confirms an address; renders nothing if the server sends no mail. */
function ConfirmAddress({ email }: { email: string }) {
  const { data } = useQuery(signInMethodsQuery);
  const send = useMutation({
    mutationFn: () => sendConfirmation(email),
    meta: { title: 'The link could not be sent' },
  });
  if (!data?.sends_mail) return null;
  if (send.isSuccess) return <span role="status">A link is on its way. Open it in this browser.</span>;
  return (
    <span className="flex flex-wrap items-center gap-2">
      Not confirmed yet.
      <Button size="sm" loading={send.isPending} onClick={() => send.mutate()}>
        Send a link
      </Button>
    </span>
  );
}

/** The display name, which unlike the username can be changed. */
export function NameForm({ name }: { name: string }) {
  /** Null until the name is edited. */
  const [typed, setTyped] = useState<string | null>(null);
  const [tried, setTried] = useState(false);
  const update = useUpdateProfile({ title: 'Your name could not be changed' });
  const value = typed ?? name;
  const problem = nameProblem(value, NAME_LENGTH_MAX);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    focusFirstInvalid(event.currentTarget, () => setTried(true));
    if (problem || update.isPending) return;
    update.mutate(
      { name: value.trim() },
      {
        onSuccess: () => {
          // Keeps text typed in the meantime.
          setTyped((current) => (current === typed ? null : current));
          notify.success('Your name was changed');
        },
      },
    );
  }

  return (
    <form noValidate onSubmit={submit} className="flex max-w-md flex-wrap items-start gap-x-2 gap-y-3">
      <Field label="Name" error={tried ? problem : undefined} className="min-w-0 flex-1 basis-56">
        <Input
          name="name"
          autoComplete="name"
          value={value}
          onChange={(event) => setTyped(event.target.value)}
        />
      </Field>
      <Button
        type="submit"
        className="mt-[1.625rem]"
        disabled={value.trim() === name}
        loading={update.isPending}
      >
        Save
      </Button>
    </form>
  );
}

type Passwords = { current: string; next: string };

/** Changes the password of a user who knows the current one. */
export function ChangePasswordForm() {
  // A new key clears the fields.
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
        <Input name="current" type="password" autoComplete="current-password" />
      </Field>
      <Field
        label="New password"
        error={errors.next}
        help={`${errors.next ? '' : 'At least 8 characters. '}You will be signed out in all other browsers.`}
      >
        <Input name="next" type="password" autoComplete="new-password" />
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

import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { type FormEvent, useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { Input } from '../../../ui/input.tsx';
import { notify } from '../../../ui/notify.ts';
import { nameProblem } from '../../../ui/text-problem.ts';
import { useUpdateProfile } from './profile-calls.ts';

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
          // Keep text that was typed while saving.
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
      <Button type="submit" className="mt-6.5" disabled={value.trim() === name} loading={update.isPending}>
        Save
      </Button>
    </form>
  );
}

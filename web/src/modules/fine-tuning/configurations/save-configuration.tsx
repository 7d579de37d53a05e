import { CONFIGURATION_NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { Save } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { notify } from '../../../ui/notify.ts';
import { nameProblem } from '../../../ui/text-problem.ts';
import { type Choices, useSaveConfiguration } from './configuration-calls.ts';

/**
 * Saves the chosen values under a name, for Choose Config. Not a form itself, because it is inside the
 * wizard's form.
 */
export function SaveConfiguration({ choices }: { choices: Choices }) {
  const [name, setName] = useState('');
  const save = useSaveConfiguration();
  const problem = nameProblem(name, CONFIGURATION_NAME_LENGTH_MAX);
  function submit() {
    if (problem || save.isPending) return;
    save.mutate(
      { name: name.trim(), choices },
      {
        onSuccess: () => {
          notify.success('Template saved');
          setName('');
        },
      },
    );
  }
  return (
    <div className="flex items-start gap-2 border-line border-t pt-5">
      <Field label="Template name" error={name === '' ? undefined : problem} className="flex-1">
        <Input
          value={name}
          onChange={(event) => setName(event.target.value)}
          onKeyDown={(event) => {
            // Ignore Enter during IME composition, as in Japanese.
            if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
            event.preventDefault();
            submit();
          }}
          placeholder="Short answers"
        />
      </Field>
      <Button className="mt-6.5" loading={save.isPending} disabled={problem !== undefined} onClick={submit}>
        <Save aria-hidden />
        Save
      </Button>
    </div>
  );
}

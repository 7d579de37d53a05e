import { Save } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Input } from '../../../ui/input.tsx';
import { notify } from '../../../ui/notify.ts';
import { type Choices, useSaveConfiguration } from './api.ts';

/** Keeps what was chosen under a name, for Choose Config. It stands inside the wizard's form, and so is none itself. */
export function SaveConfiguration({ choices }: { choices: Choices }) {
  const [name, setName] = useState('');
  const save = useSaveConfiguration();
  function submit() {
    if (!name.trim() || save.isPending) return;
    save.mutate(
      { name: name.trim(), choices },
      {
        onSuccess: () => {
          notify.success('Configuration saved');
          setName('');
        },
      },
    );
  }
  return (
    <div className="flex gap-2 border-line border-t pt-5">
      <Input
        aria-label="Template name"
        value={name}
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => {
          // Enter that ends a word which is still being composed, as in Japanese, is none.
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          event.preventDefault();
          submit();
        }}
        placeholder="Save these parameters as a template"
      />
      <Button loading={save.isPending} disabled={!name.trim()} onClick={submit}>
        <Save aria-hidden />
        Save
      </Button>
    </div>
  );
}

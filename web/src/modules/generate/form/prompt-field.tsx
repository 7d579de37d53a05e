import type { ReactNode } from 'react';
import { COMMAND_KEY } from '../../../lib/device/command-key.ts';
import { Field } from '../../../ui/field.tsx';
import { Textarea } from '../../../ui/textarea.tsx';

type Props = {
  value: string;
  onChange: (value: string) => void;
  problem: string | undefined;
  placeholder?: string;
  help?: ReactNode;
  rows: number;
};

/** The prompt. Enter inserts a line break; Ctrl or Cmd with Enter submits. */
export function PromptField({
  value,
  onChange,
  problem,
  placeholder = 'A baker takes a loaf out of a wood-fired oven, early light, flour in the air',
  help,
  rows,
}: Props) {
  return (
    <Field label="Prompt" error={problem} help={help} aside={<SubmitHint />}>
      <Textarea
        name="prompt"
        rows={rows}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
        aria-keyshortcuts="Control+Enter Meta+Enter"
        placeholder={placeholder}
      />
    </Field>
  );
}

/** Hidden on devices without a keyboard. */
function SubmitHint() {
  return (
    <span aria-hidden className="flex gap-1 max-sm:hidden pointer-coarse:hidden">
      {[COMMAND_KEY, 'Enter'].map((key) => (
        <kbd key={key} className="rounded border border-line-strong px-1.5 font-sans text-2xs text-muted">
          {key}
        </kbd>
      ))}
    </span>
  );
}

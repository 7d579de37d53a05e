import { Field } from '../../ui/field.tsx';
import { Input } from '../../ui/input.tsx';

type Props = {
  /** As typed; empty: the usual one. */
  value: string;
  /** The ceiling where none is typed, in BGL. */
  usual: string;
  error?: string | undefined;
  onChange: (value: string) => void;
  className?: string;
};

/** What a run may cost at most. */
export function CeilingField({ value, usual, error, onChange, className }: Props) {
  return (
    <Field
      label="Ceiling"
      aside="BGL"
      className={className}
      error={error}
      help="At this cost the run saves its work and stops. You can resume it with a higher ceiling."
    >
      <Input
        inputMode="decimal"
        autoComplete="off"
        value={value}
        placeholder={usual}
        onChange={(event) => onChange(event.target.value.trim())}
      />
    </Field>
  );
}

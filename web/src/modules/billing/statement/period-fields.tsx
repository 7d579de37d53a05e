import { X } from 'lucide-react';
import { useState } from 'react';
import { localDay } from '../../../lib/format/format-time.ts';
import { Button } from '../../../ui/button.tsx';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { type Period, periodProblems } from './period.ts';

type Props = { period: Period; onChange: (period: Period) => void };

/** First and last day. An invalid day stays in its field with the reason and is not applied. */
export function PeriodFields({ period, onChange }: Props) {
  const [refused, setRefused] = useState<Period | null>(null);
  const shown = refused ?? period;
  const today = localDay(new Date());
  const problems = periodProblems(shown, today);

  function set(next: Period) {
    const fits = Object.keys(periodProblems(next, today)).length === 0;
    setRefused(fits ? null : next);
    if (fits) onChange(next);
  }

  const day = (field: keyof Period, label: string, latest: string) => (
    <Field
      label={label}
      error={problems[field] || undefined}
      className="flex-1 basis-34 sm:w-37 sm:flex-none"
    >
      <Input
        type="date"
        value={shown[field] ?? ''}
        min={field === 'to' ? period.from : undefined}
        max={latest}
        onChange={(event) => set({ ...shown, [field]: event.target.value || undefined })}
      />
    </Field>
  );
  return (
    <div className="flex min-w-0 flex-wrap items-start gap-2 max-sm:w-full">
      {day('from', 'From', period.to ?? today)}
      {day('to', 'To', today)}
      {(shown.from ?? shown.to) && (
        <Button
          variant="ghost"
          size="icon"
          className="mt-6.5"
          aria-label="Show all days"
          onClick={() => set({ from: undefined, to: undefined })}
        >
          <X aria-hidden />
        </Button>
      )}
    </div>
  );
}

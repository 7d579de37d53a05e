import { useId } from 'react';
import { segmentsClass } from '../../../ui/segment-class.ts';
import { useGeneratorPage } from '../generator-context.ts';
import { clampedValues, type FormValues } from './form-values.ts';
import { qualitiesOf, qualityOf, settingsInWords, withQuality } from './qualities.ts';

/** A choice of quality with its meaning. Native radios keep the first screen small. */
export function QualityField({ onChange }: { onChange: (changed: { values: FormValues }) => void }) {
  const { serving, draft } = useGeneratorPage();
  const name = useId();
  const { form, isStarter } = serving;
  const qualities = qualitiesOf(form, isStarter);
  if (qualities.length === 0) return null;
  const values = clampedValues(form, draft.values);
  const chosen = qualityOf(form, values, qualities);
  return (
    <fieldset className="grid gap-1.5">
      <legend className="mb-1.5 font-medium text-compact">Quality</legend>
      <div className={segmentsClass}>
        {qualities.map((quality) => (
          <label
            key={quality.label}
            className="relative flex h-7 items-center rounded-md px-2.5 font-medium text-compact text-muted hover:text-ink has-checked:bg-surface has-checked:text-ink has-checked:shadow-card has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={name}
              checked={quality === chosen}
              onChange={() => onChange({ values: withQuality(form, draft.values, quality, qualities) })}
              className="absolute inset-0 cursor-pointer opacity-0"
            />
            {quality.label}
          </label>
        ))}
      </div>
      <p className="text-compact text-muted leading-5" aria-live="polite">
        {!chosen && 'Your own settings: '}
        {settingsInWords(form, values)}
      </p>
    </fieldset>
  );
}

import type { Licence } from '@bakehouse/contract/licences';
import { ExternalLink } from 'lucide-react';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { Checkbox } from '../../../ui/checkbox.tsx';

type Props = { licence: Licence; accepted: boolean; onChange: (accepted: boolean) => void };

/**
 * The model's licence in short, a link to its text, and a checkbox to accept it or the date it was accepted.
 */
export function LicenceField({ licence, accepted, onChange }: Props) {
  const { title, version, url, summary, accepted_at } = licence;
  const link = (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className="font-medium text-accent-text underline underline-offset-2"
    >
      {title}, version {version}
      <ExternalLink aria-hidden className="ml-1 inline size-3.5 align-[-2px]" />
      <span className="sr-only">(opens in a new tab)</span>
    </a>
  );
  if (accepted_at !== null) {
    return (
      <p className="text-compact text-muted leading-5">
        You accepted the {link} on {formatDateTime(new Date(accepted_at))}.
      </p>
    );
  }
  return (
    <section aria-label="License" className="rounded-xl border border-line p-4">
      <p>This model is licensed under the {link}.</p>
      <ul className="mt-2 mb-3 list-disc space-y-1 pl-5 text-compact text-muted leading-5">
        {summary.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <Checkbox
        checked={accepted}
        onChange={onChange}
        label="I have read and accept the license. The summary does not replace its text."
      />
    </section>
  );
}

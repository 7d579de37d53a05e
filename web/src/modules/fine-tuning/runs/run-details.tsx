import type { Run } from '@bakehouse/contract/runs';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { currencyChoice, showLimit } from '../../../lib/format/currency.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { Card } from '../../../ui/card.tsx';
import { describeParameters } from './describe-parameters.ts';
import { memoryText } from './run-sentences.ts';

/** Inputs and parameters of a run. */
export function RunDetails({ run }: { run: Run }) {
  const memory = memoryText(run);
  const currency = currencyChoice.use();
  return (
    <Card title="Made from">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1.5 text-compact">
        <Row label="Base model">
          <Link
            to="/model/$id/description"
            params={{ id: run.base_model.dataset_id }}
            className="text-accent-text hover:underline"
          >
            {run.base_model.title}
          </Link>
        </Row>
        <Row label="Dataset">
          <DataFile file={run.dataset} />
        </Row>
        {run.kind === 'text' && run.validation && (
          <Row label="Validation file">
            <DataFile file={run.validation} />
          </Row>
        )}
        <Row label="Spending limit">{showLimit(run.ceiling, currency)}</Row>
        {memory !== null && <Row label="Memory">{memory}</Row>}
        <Row label="Created">{formatDateTime(new Date(run.created_at))}</Row>
        {describeParameters(run).map(({ name, value }) => (
          <Row key={name} label={name}>
            {value}
          </Row>
        ))}
      </dl>
    </Card>
  );
}

function DataFile({ file }: { file: Run['dataset'] }) {
  return (
    <>
      <Link
        to="/dataset/$id/description"
        params={{ id: file.dataset_id }}
        className="text-accent-text hover:underline"
      >
        {file.title}
      </Link>
      {file.file_name !== null && file.file_name !== file.title && (
        <span className="block font-mono text-muted text-xs">{file.file_name}</span>
      )}
    </>
  );
}

function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{label}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}

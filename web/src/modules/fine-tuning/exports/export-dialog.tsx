import { type ExportFormat, exportFormatLabels, type OfferedExport } from '@bakehouse/contract/exports';
import { formatBytes } from '@bakehouse/contract/labels';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Money } from '../../../ui/money.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { exportsQuery, useStartExport } from './export-calls.ts';

const uses: Record<ExportFormat, string> = {
  safetensors: 'Loads with Transformers and vLLM, like the base model.',
  gguf_f16: 'One file for llama.cpp, with a Modelfile for Ollama. 16 bits a weight.',
  gguf_q8_0: 'The same in 8 bits, at half the size. Some answers may differ.',
};

/** Exports a fine-tune as a standalone model, in a format that other programs load. */
export function ExportDialog({ modelId, onClose }: { modelId: string; onClose: () => void }) {
  const offers = useQuery(exportsQuery(modelId));
  const [format, setFormat] = useState<ExportFormat | null>(null);
  const start = useStartExport(modelId);
  const navigate = useNavigate();
  const chosen = offers.data?.exports.find((one) =>
    format === null ? one.obstacle === null : one.format === format,
  );
  const begin = () => {
    if (!chosen) return;
    start.mutate(
      { format: chosen.format, cost_max: chosen.quote.total },
      {
        onSuccess: ({ run_id: id }) => {
          onClose();
          void navigate({ to: '/runs/$id', params: { id } });
        },
      },
    );
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Export"
      description="Creates a standalone model in a format that other programs can load."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" disabled={!chosen} loading={start.isPending} onClick={begin}>
            Start
          </Button>
        </>
      }
    >
      <QueryView
        query={offers}
        failed="This model cannot be exported"
        pending={
          <LoadingRegion>
            <Skeleton className="h-60 rounded-xl" />
          </LoadingRegion>
        }
      >
        {({ obstacle, exports }) => (
          <>
            {obstacle !== null && <Callout tone="bad">{`${obstacle}.`}</Callout>}
            <Formats offers={exports} value={chosen?.format ?? null} onChange={setFormat} />
            {chosen && (
              <p className="mt-4 text-compact text-muted">
                At most <Money bgl={chosen.quote.total} />. You pay only for the time it takes.
              </p>
            )}
            {start.error && (
              <Callout tone="bad" className="mt-4">
                {errorMessage(start.error)}
              </Callout>
            )}
          </>
        )}
      </QueryView>
    </Dialog>
  );
}

type FormatsProps = {
  offers: readonly OfferedExport[];
  value: ExportFormat | null;
  onChange: (format: ExportFormat) => void;
};

function Formats({ offers, ...choice }: FormatsProps) {
  return (
    <RadioCards
      aria-label="Format"
      {...choice}
      options={offers.map((offer) => ({
        value: offer.format,
        label: exportFormatLabels[offer.format],
        description: <Described offer={offer} />,
        disabled: offer.obstacle !== null,
      }))}
    />
  );
}

function Described({ offer: { format, size_bytes, obstacle } }: { offer: OfferedExport }) {
  if (obstacle !== null) return `${obstacle}.`;
  return `${uses[format]} About ${formatBytes(size_bytes)}.`;
}

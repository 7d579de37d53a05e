import type { DiffusionValidation } from '@bakehouse/contract/diffusion-training';
import { countOf } from '../../../../lib/format/count-of.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { ButtonLink } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { Disclosure } from '../../../../ui/disclosure.tsx';
import { CostEstimate } from '../../wizard/review/cost-estimate.tsx';
import type { TrainLora } from '../use-train-lora.ts';

type Data = NonNullable<DiffusionValidation['data']>;

/** Shows which pictures are used and left out, the placement, and the cost, which equals the amount held. */
export function ReviewStep({ wizard }: { wizard: TrainLora }) {
  const { state, validation, lack, problems, dispatch } = wizard;
  if (!validation) return null;
  const { critical_errors, data, placement, warnings } = validation;
  return (
    <div className="flex flex-col gap-6">
      {lack && (
        <Callout
          tone="bad"
          title={lack}
          action={
            <ButtonLink size="sm" to="/buy-bagels">
              Get credits
            </ButtonLink>
          }
        >
          Nothing has started. Your choices stay here until you close this panel.
        </Callout>
      )}
      {critical_errors.length > 0 ? (
        <Callout tone="bad" title="This run cannot start">
          {critical_errors[0]}
        </Callout>
      ) : (
        <CostEstimate
          validation={validation}
          ceiling={state.ceiling}
          ceilingProblem={problems.ceiling}
          onCeiling={(ceiling) => dispatch({ do: 'change', values: { ceiling } })}
        />
      )}
      {data && data.left_out.length > 0 && <LeftOut data={data} />}
      {critical_errors.length === 0 && <Callout>{placement.description}</Callout>}
      {warnings.length > 0 && (
        <Callout tone="warn" title="Worth knowing">
          <ul className="list-disc pl-4">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Callout>
      )}
      {data && <PicturesSummary data={data} />}
    </div>
  );
}

/** Files that are left out, with reasons. */
function LeftOut({ data: { left_out: files, left_out_total: total } }: { data: Data }) {
  return (
    <Callout tone="warn" title={`${countOf(total, 'file')} left out`}>
      <ul className="list-disc pl-4 [overflow-wrap:anywhere]">
        {files.map(({ file, message }) => (
          <li key={`${file} ${message}`}>{message}</li>
        ))}
      </ul>
      {total > files.length && `The first ${files.length} are shown.`}
    </Callout>
  );
}

function PicturesSummary({ data }: { data: Data }) {
  const rows = [
    ['Pictures', `${formatNumber(data.pictures_kept)} of ${formatNumber(data.pictures_total)}`],
    ['Held out', data.held_out === 0 ? 'None (fewer than 10 pictures)' : formatNumber(data.held_out)],
    ['Sizes', data.sizes.map(({ width, height, count }) => `${width} x ${height} (${count})`).join(', ')],
    ['Steps', formatNumber(data.steps_total)],
    ['Trained parameters', formatNumber(data.trainable_parameters)],
  ] as const;
  return (
    <section className="flex flex-col gap-4">
      <h3 className="font-medium">Your pictures</h3>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1.5 text-compact">
        {rows.map(([label, value]) => (
          <div key={label} className="contents">
            <dt className="text-muted">{label}</dt>
            <dd className="tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      <Disclosure title="Captions as the model reads them">
        <ul className="flex flex-col gap-2 text-compact [overflow-wrap:anywhere]">
          {data.samples.map(({ file, caption }) => (
            <li key={file}>
              <span className="font-mono text-muted text-xs">{file}</span>
              <p>{caption}</p>
            </li>
          ))}
        </ul>
      </Disclosure>
      {data.notes.length > 0 && (
        <Disclosure title={`${countOf(data.notes.length, 'note')} about pictures`}>
          <ul className="list-disc pl-4 text-compact [overflow-wrap:anywhere]">
            {data.notes.map(({ file, message }) => (
              <li key={`${file} ${message}`}>{message}</li>
            ))}
          </ul>
        </Disclosure>
      )}
    </section>
  );
}

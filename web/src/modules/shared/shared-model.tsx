import { formatBytes } from '@bakehouse/contract/labels';
import type { SharedModel } from '@bakehouse/contract/share-links';
import { Box } from 'lucide-react';
import { countOf } from '../../lib/format/count-of.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Markdown, MarkdownLines } from '../../ui/markdown.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { CardMetadata } from '../assets/card/card-metadata.tsx';
import { SourceLine } from '../assets/source-line.tsx';
import { SampleViewer } from '../training/pictures/sample-viewer.tsx';
import { byline } from './byline.ts';
import { columnsClass } from './columns-class.ts';
import { Fact, Facts, MadeFrom } from './made-from.tsx';

/** What a model is, without its files. */
export function SharedModelPage({ shared: model }: { shared: SharedModel }) {
  const { title, details, source, samples, model_id: id } = model;
  return (
    <>
      <PageHeader
        title={title}
        description={byline(model, 'Model')}
        actions={
          id !== null && (
            <ButtonLink to="/model/$id/description" params={{ id }}>
              <Box aria-hidden />
              Open the model
            </ButtonLink>
          )
        }
      />
      {(details || source) && (
        <div className="-mt-3 mb-5 flex flex-col gap-3">
          {details && (
            <div className="text-muted">
              <MarkdownLines text={details} />
            </div>
          )}
          {source && <SourceLine source={source} type="MODEL" />}
        </div>
      )}
      {samples && (
        <Card title="Samples" className="mb-5">
          <SampleViewer {...samples} />
        </Card>
      )}
      <div className={columnsClass}>
        <ModelCard model={model} />
        <Card title="Details" className="order-first lg:order-none">
          <ModelFacts model={model} />
        </Card>
      </div>
    </>
  );
}

function ModelCard({ model: { card, card_metadata: metadata } }: { model: SharedModel }) {
  return (
    <Card>
      {metadata && <CardMetadata metadata={metadata} />}
      {card === null ? (
        <p className="text-muted">Its owner has not described this model.</p>
      ) : (
        <Markdown text={card} />
      )}
    </Card>
  );
}

function ModelFacts({ model }: { model: SharedModel }) {
  const { made_from: madeFrom, file_count: files, size_bytes: size } = model;
  const sizes = (
    <Fact label="Size">
      {formatBytes(size)} in {countOf(files, 'file')}
    </Fact>
  );
  return madeFrom ? <MadeFrom {...madeFrom}>{sizes}</MadeFrom> : <Facts>{sizes}</Facts>;
}

import { loadable } from '../lib/loadable.tsx';
import { DeferredPart } from './deferred-part.tsx';
import { LoadingRegion, Skeleton } from './skeleton.tsx';

const MarkdownContent = loadable(async () => (await import('./markdown-content.tsx')).default);
const GrowingMarkdown = loadable(async () => (await import('./markdown-content.tsx')).GrowingMarkdown);

/** A card or README. Loads the renderer on first use and omits YAML front matter. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose-bakehouse">
      <DeferredPart
        unavailable={<PlainText text={text} />}
        pending={
          <LoadingRegion className="space-y-3">
            <Skeleton className="h-5 w-1/3" />
            <Skeleton className="h-4 w-full" />
            <Skeleton className="h-4 w-4/5" />
          </LoadingRegion>
        }
      >
        <MarkdownContent text={text} />
      </DeferredPart>
    </div>
  );
}

/** User input or a model's answer: renders markdown and preserves line breaks. */
export function MarkdownLines({ text }: { text: string }) {
  return (
    <div className="prose-bakehouse [&_p]:whitespace-pre-line">
      <DeferredPart pending={<PlainText text={text} />} unavailable={<PlainText text={text} />}>
        <GrowingMarkdown text={text} />
      </DeferredPart>
    </div>
  );
}

/** Fallback while the renderer loads or if it fails. */
function PlainText({ text }: { text: string }) {
  return (
    <p dir="auto" className="whitespace-pre-wrap">
      {text}
    </p>
  );
}

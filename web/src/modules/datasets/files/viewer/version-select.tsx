import { formatBytes } from '@bakehouse/contract/labels';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from '../../../../ui/button.tsx';
import { RelativeTime } from '../../../../ui/relative-time.tsx';
import { Select } from '../../../../ui/select.tsx';
import { versionsQuery } from './viewer-calls.ts';

type Props = {
  assetId: string;
  path: string;
  /** The asset's newest revision. */
  newest: string;
  /** The displayed revision, unless it is the newest. */
  value: string | undefined;
  onChange: (revisionId: string | undefined) => void;
};

/** Chooses a revision of a file; renders nothing if there is only one. */
export function VersionSelect({ assetId, path, newest, value, onChange }: Props) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    versionsQuery({ assetId, path, newest }),
  );
  const versions = data?.pages.flatMap((page) => page.versions) ?? [];
  const [last] = versions;
  if (!last || (versions.length === 1 && value === undefined)) return null;
  return (
    <>
      <div className="w-48">
        <Select
          aria-label="Version"
          size="sm"
          value={value ?? last.revision_id}
          onChange={(id) => onChange(id === last.revision_id ? undefined : id)}
          options={versions.map(({ revision_id: id, number, created_at: at, size_bytes: size }) => ({
            value: id,
            label: id === last.revision_id ? `Version ${number} (newest)` : `Version ${number}`,
            description: (
              <>
                <RelativeTime at={at} />, {formatBytes(size)}
              </>
            ),
          }))}
        />
      </div>
      {hasNextPage && (
        <Button
          size="sm"
          variant="ghost"
          loading={isFetchingNextPage}
          onClick={() => void fetchNextPage({ cancelRefetch: false })}
        >
          Load older versions
        </Button>
      )}
    </>
  );
}

import * as contract from '@bakehouse/contract/hub/datasets-server';
import { type Binding, bind } from '../../../platform/http/bind.ts';
import { clientSignal } from '../../../platform/http/client-signal.ts';
import { checkDataset, listParquetFiles, listSplits, measureDataset } from './describe-dataset.ts';
import { describeDatasetServerError } from './describe-error.ts';
import { describeSplit, readSplit } from './read-split.ts';

/** Rows of the first look. */
const FIRST_ROWS = 100;

/** What clients of the hub's dataset server call, with errors as these read them. */
export const datasetServerRoutes: Binding[] = [
  bind(contract.listSplits, (ctx, { query }) => listSplits(ctx, query.dataset)),
  bind(contract.checkDataset, (ctx, { query }, { reply }) =>
    checkDataset(ctx, query.dataset, clientSignal(reply)),
  ),
  bind(contract.listParquetFiles, (ctx, { query }) => listParquetFiles(ctx, query.dataset)),
  bind(contract.readDatasetSize, (ctx, { query }, { reply }) =>
    measureDataset(ctx, query.dataset, clientSignal(reply)),
  ),
  bind(contract.readFirstRows, async (ctx, { query }, { reply }) => {
    const page = { offset: 0, length: FIRST_ROWS };
    const {
      features,
      rows,
      num_rows_total: total,
    } = await readSplit(ctx, { ...query, ...page }, clientSignal(reply));
    return { ...query, features, rows, truncated: total > FIRST_ROWS };
  }),
  bind(contract.readSplitRows, (ctx, { query }, { reply }) => readSplit(ctx, query, clientSignal(reply))),
  bind(contract.searchSplit, (ctx, { query: { query: text, ...query } }, { reply }) =>
    readSplit(ctx, { ...query, text }, clientSignal(reply)),
  ),
  bind(contract.filterSplit, (ctx, { query: { orderby: orderBy, ...query } }, { reply }) =>
    readSplit(ctx, { ...query, orderBy }, clientSignal(reply)),
  ),
  bind(contract.readSplitStatistics, (ctx, { query }, { reply }) =>
    describeSplit(ctx, query, clientSignal(reply)),
  ),
].map((binding) => ({ ...binding, describeError: describeDatasetServerError }));

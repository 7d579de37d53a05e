import {
  DuckDBArrayType,
  DuckDBDecimalType,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId,
  type Json,
} from '@duckdb/node-api';

/** The names that Arrow has for DuckDB's types. */
const DTYPES = new Map<DuckDBTypeId, string>([
  [DuckDBTypeId.BOOLEAN, 'bool'],
  [DuckDBTypeId.TINYINT, 'int8'],
  [DuckDBTypeId.SMALLINT, 'int16'],
  [DuckDBTypeId.INTEGER, 'int32'],
  [DuckDBTypeId.BIGINT, 'int64'],
  [DuckDBTypeId.UTINYINT, 'uint8'],
  [DuckDBTypeId.USMALLINT, 'uint16'],
  [DuckDBTypeId.UINTEGER, 'uint32'],
  [DuckDBTypeId.UBIGINT, 'uint64'],
  [DuckDBTypeId.FLOAT, 'float32'],
  [DuckDBTypeId.DOUBLE, 'float64'],
  [DuckDBTypeId.DATE, 'date32'],
  [DuckDBTypeId.TIME, 'time64[us]'],
  [DuckDBTypeId.TIMESTAMP, 'timestamp[us]'],
  [DuckDBTypeId.TIMESTAMP_S, 'timestamp[s]'],
  [DuckDBTypeId.TIMESTAMP_MS, 'timestamp[ms]'],
  [DuckDBTypeId.TIMESTAMP_NS, 'timestamp[ns]'],
  [DuckDBTypeId.TIMESTAMP_TZ, 'timestamp[us, tz=UTC]'],
  [DuckDBTypeId.BLOB, 'binary'],
  [DuckDBTypeId.SQLNULL, 'null'],
]);

/** A type of DuckDB as a feature of the library `datasets`; what it has no name for is text there. */
export function featureOf(type: DuckDBType): Json {
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType)
    return { feature: featureOf(type.valueType), _type: 'List' };
  if (type instanceof DuckDBMapType)
    return { feature: { key: featureOf(type.keyType), value: featureOf(type.valueType) }, _type: 'List' };
  if (type instanceof DuckDBStructType) {
    return Object.fromEntries(
      type.entryNames.map((name, at) => [name, featureOf(type.entryTypes[at] as DuckDBType)]),
    );
  }
  if (type instanceof DuckDBDecimalType)
    return { dtype: `decimal128(${type.width}, ${type.scale})`, _type: 'Value' };
  return { dtype: DTYPES.get(type.typeId) ?? 'string', _type: 'Value' };
}

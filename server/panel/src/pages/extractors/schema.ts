/** Field is a value that a model is asked for. */
export interface Field {
  name: string
  type: (typeof fieldTypes)[number]
  description: string
  required: boolean
}

export const fieldTypes = ['string', 'number', 'integer', 'boolean', 'array'] as const

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

/** fieldsOf are the properties of a schema; null: it says more than fields can, and is shown as text. */
export function fieldsOf(schema: unknown): Field[] | null {
  if (!isObject(schema) || schema.type !== 'object' || !isObject(schema.properties) || only(schema, ['type', 'properties', 'required'])) return null
  const required = Array.isArray(schema.required) ? schema.required : []
  const out: Field[] = []
  for (const [name, property] of Object.entries(schema.properties)) {
    if (!isObject(property) || only(property, ['type', 'description', 'items'])) return null
    const type = fieldTypes.find((one) => one === property.type)
    const items = isObject(property.items) && property.items.type === 'string' && Object.keys(property.items).length === 1
    if (!type || (type === 'array') !== items) return null
    out.push({ name, type, description: typeof property.description === 'string' ? property.description : '', required: required.includes(name) })
  }
  return out
}

const only = (value: object, members: string[]) => Object.keys(value).some((name) => !members.includes(name))

/** schemaOf is the JSON Schema of fields. */
export function schemaOf(fields: Field[]): Record<string, unknown> {
  const properties = Object.fromEntries(
    fields.map(({ name, type, description }) => [name, { type, ...(description ? { description } : {}), ...(type === 'array' ? { items: { type: 'string' } } : {}) }]),
  )
  const required = fields.filter((field) => field.required).map((field) => field.name)
  return { type: 'object', properties, ...(required.length ? { required } : {}) }
}

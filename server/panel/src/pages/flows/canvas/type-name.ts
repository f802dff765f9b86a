import { type Key, t } from '../../../text'

const known = new Set('agent assistant break call condition contact continue delay end event extract flow goto handoff http loop message note question random return set switch throw tool trigger wait'.split(' '))
const groups = new Set(['flow', 'talk', 'data', 'ai'])

/** typeName is what a node type is called; one that we do not know has its own name. */
export const typeName = (type: string) => (known.has(type) ? t(`node.${type}` as Key) : type)

/** groupName is what a group of the palette is called. */
export const groupName = (group: string) => (groups.has(group) ? t(`canvas.of.${group}` as Key) : group)

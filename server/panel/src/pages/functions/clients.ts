import { root } from '../../api/client'

/** address is where agents reach the functions by the Model Context Protocol. */
export const address = `${location.origin}${root}/mcp`

/** Client is a program that speaks to the server, and what it must be told. */
export interface Client {
  id: string
  name: string
  /** The file that holds it; none: it is a command. */
  file?: string
  text: (address: string, token: string) => string
}

const json = (value: unknown) => JSON.stringify(value, null, 2)
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

/** plain says whether an address is neither encrypted nor on this machine, which the bridge wants to be told. */
const plain = (address: string) => address.startsWith('http:') && !['localhost', '127.0.0.1'].includes(new URL(address).hostname)

/** clients are told the address and a token in ways of their own. */
export const clients: Client[] = [
  {
    id: 'code',
    name: 'Claude Code',
    text: (address, token) => `claude mcp add --transport http trunkline ${address} \\\n  --header "Authorization: Bearer ${token}"`,
  },
  {
    id: 'desktop',
    name: 'Claude Desktop',
    file: 'claude_desktop_config.json',
    // It sends no headers of one's own to remote servers, so a bridge does. The
    // variable keeps the blank out of the arguments, where some systems cut.
    text: (address, token) =>
      json({
        mcpServers: {
          trunkline: {
            command: 'npx',
            args: ['-y', 'mcp-remote', address, '--header', 'Authorization:${AUTH}', ...(plain(address) ? ['--allow-http'] : [])],
            env: { AUTH: `Bearer ${token}` },
          },
        },
      }),
  },
  { id: 'cursor', name: 'Cursor', file: '.cursor/mcp.json', text: (address, token) => json({ mcpServers: { trunkline: { url: address, headers: bearer(token) } } }) },
  {
    id: 'vscode',
    name: 'VS Code',
    file: '.vscode/mcp.json',
    text: (address, token) => json({ servers: { trunkline: { type: 'http', url: address, headers: bearer(token) } } }),
  },
  { id: 'json', name: 'JSON', file: '.mcp.json', text: (address, token) => json({ mcpServers: { trunkline: { type: 'http', url: address, headers: bearer(token) } } }) },
]

"""Notebooks as JupyterLab gets and gives them, so that opening one does not mark it modified.

Lab writes the kernel's name for people and its version of Python into a notebook that it opens.  Here the notebook
comes with them, and is stored without: the committed form names no version of anybody's Python.
"""

from ipykernel.ipkernel import IPythonKernel
from jupyter_client.kernelspec import NoSuchKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from companion.notebooks import METADATA

_KERNEL = METADATA["kernelspec"]["name"]


def _ours(model: dict) -> bool:
    """Whether a model of the contents service holds a notebook for the kernel of the committed ones."""
    if model.get("type") != "notebook" or not model.get("content"):
        return False
    return model["content"].get("metadata", {}).get("kernelspec", {}).get("name") == _KERNEL


class NotebookFiles(AsyncLargeFileManager):
    """Files of the folder; notebooks with the metadata that Lab would give them."""

    async def get(self, path, *arguments, **named):
        model = await super().get(path, *arguments, **named)
        if _ours(model):
            try:
                spec = self.parent.kernel_spec_manager.get_kernel_spec(_KERNEL)
            except NoSuchKernel:
                return model
            shown = {"name": _KERNEL, "display_name": spec.display_name, "language": spec.language}
            model["content"]["metadata"] |= {"kernelspec": shown, "language_info": dict(IPythonKernel.language_info)}
        return model

    async def save(self, model, path=""):
        if _ours(model):
            model["content"]["metadata"] |= METADATA
        return await super().save(model, path)

"""What the native module has. Private: import from the modules of the package."""

from typing import ClassVar, final

__version__: str

def run_command(arguments: list[str]) -> int: ...

@final
class DataType:
    BOOL: ClassVar[DataType]
    BOOLEAN: ClassVar[DataType]
    INT4: ClassVar[DataType]
    INT8: ClassVar[DataType]
    INT16: ClassVar[DataType]
    INT32: ClassVar[DataType]
    INT64: ClassVar[DataType]
    UINT4: ClassVar[DataType]
    UINT8: ClassVar[DataType]
    UINT16: ClassVar[DataType]
    UINT32: ClassVar[DataType]
    UINT64: ClassVar[DataType]
    BF16: ClassVar[DataType]
    BFLOAT16: ClassVar[DataType]
    FP16: ClassVar[DataType]
    FLOAT16: ClassVar[DataType]
    FP32: ClassVar[DataType]
    FLOAT32: ClassVar[DataType]
    FP64: ClassVar[DataType]
    FLOAT64: ClassVar[DataType]
    FP8E4M3: ClassVar[DataType]
    FP8E4M3FN: ClassVar[DataType]
    FLOAT8E4M3FN: ClassVar[DataType]
    FP8E5M2: ClassVar[DataType]
    FLOAT8E5M2: ClassVar[DataType]
    COMPLEX64: ClassVar[DataType]
    COMPLEX128: ClassVar[DataType]
    INDEX: ClassVar[DataType]
    ALL: ClassVar[tuple[DataType, ...]]
    def __new__(cls, name: str | DataType) -> DataType: ...
    @property
    def name(self) -> str: ...
    @property
    def short_name(self) -> str: ...
    @property
    def bits(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    def is_bool(self) -> bool: ...
    def is_integer(self) -> bool: ...
    def is_float(self) -> bool: ...
    def is_complex(self) -> bool: ...
    def is_signed(self) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Span:
    def __new__(
        cls,
        filename: str,
        begin_line: int,
        begin_column: int,
        end_line: int = 0,
        end_column: int = 0,
    ) -> Span: ...
    @staticmethod
    def unknown() -> Span: ...
    @property
    def filename(self) -> str: ...
    @property
    def begin_line(self) -> int: ...
    @property
    def begin_column(self) -> int: ...
    @property
    def end_line(self) -> int: ...
    @property
    def end_column(self) -> int: ...
    def is_unknown(self) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Diagnostic:
    def __new__(
        cls,
        severity: str,
        message: str,
        span: Span,
        notes: list[tuple[Span, str]] = ...,
        help: str | None = None,
    ) -> Diagnostic: ...
    @property
    def severity(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def span(self) -> Span: ...
    @property
    def notes(self) -> list[tuple[Span, str]]: ...
    @property
    def help(self) -> str | None: ...

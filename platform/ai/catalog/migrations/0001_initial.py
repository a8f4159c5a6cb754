import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="AIModel",
            fields=[
                ("id", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("display_name", models.CharField(max_length=100)),
                (
                    "modality",
                    models.CharField(
                        choices=[
                            ("chat", "Chat"),
                            ("image", "Image"),
                            ("embedding", "Embedding"),
                            ("speech", "Speech"),
                            ("video", "Video"),
                            ("3d", "3D"),
                        ],
                        max_length=16,
                    ),
                ),
                ("provider", models.CharField(max_length=50)),
                ("upstream_model", models.CharField(max_length=100)),
                ("owned_by", models.CharField(max_length=50)),
                ("vision", models.BooleanField(default=False)),
                ("tools", models.BooleanField(default=False)),
                ("streaming", models.BooleanField(default=False)),
                ("reasoning", models.BooleanField(default=False)),
                ("reasons_unasked", models.BooleanField(default=False)),
                ("context_window", models.PositiveIntegerField()),
                ("max_output_tokens", models.PositiveIntegerField()),
                ("prompt_overhead_tokens", models.PositiveIntegerField(default=64)),
                ("minimum_seconds", models.PositiveSmallIntegerField(default=0)),
                ("free", models.BooleanField(default=False)),
                ("params", models.JSONField(blank=True, default=dict)),
                ("enabled", models.BooleanField(default=True)),
                ("released_on", models.DateField()),
            ],
            options={
                "verbose_name": "model",
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="RetiredModel",
            fields=[
                ("name", models.CharField(max_length=100, primary_key=True, serialize=False)),
            ],
        ),
        migrations.CreateModel(
            name="Alias",
            fields=[
                ("name", models.CharField(max_length=100, primary_key=True, serialize=False)),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aliases",
                        to="catalog.aimodel",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "aliases",
            },
        ),
        migrations.CreateModel(
            name="PriceVersion",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("valid_from", models.DateTimeField()),
                (
                    "input",
                    models.BigIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(10000000000)],
                    ),
                ),
                (
                    "output",
                    models.BigIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(10000000000)],
                    ),
                ),
                (
                    "token_fee",
                    models.BigIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(10000000000)],
                    ),
                ),
                (
                    "image_low",
                    models.BigIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(100000000000)],
                    ),
                ),
                (
                    "image_standard",
                    models.BigIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(100000000000)],
                    ),
                ),
                (
                    "image_high",
                    models.BigIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(100000000000)],
                    ),
                ),
                (
                    "image_fee",
                    models.BigIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(100000000000)],
                    ),
                ),
                (
                    "speech_hour",
                    models.BigIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(100000000000)],
                    ),
                ),
                (
                    "speech_fee",
                    models.BigIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(100000000000)],
                    ),
                ),
                ("unit_rates", models.JSONField(blank=True, null=True)),
                (
                    "unit_fee",
                    models.BigIntegerField(
                        blank=True,
                        null=True,
                        validators=[django.core.validators.MaxValueValidator(100000000000)],
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="prices",
                        to="catalog.aimodel",
                    ),
                ),
            ],
            options={
                "ordering": ["model_id", "-valid_from"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("model", "valid_from"), name="one_price_at_a_time"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("image_fee__isnull", True),
                                ("image_high__isnull", True),
                                ("image_low__isnull", True),
                                ("image_standard__isnull", True),
                                ("input__gte", 0),
                                ("input__isnull", False),
                                ("output__gte", 0),
                                ("output__isnull", False),
                                ("speech_fee__isnull", True),
                                ("speech_hour__isnull", True),
                                ("token_fee__gte", 0),
                                ("token_fee__isnull", False),
                                ("unit_fee__isnull", True),
                                ("unit_rates__isnull", True),
                            ),
                            models.Q(
                                ("image_fee__gte", 0),
                                ("image_fee__isnull", False),
                                ("image_high__gte", 0),
                                ("image_high__isnull", False),
                                ("image_low__gte", 0),
                                ("image_low__isnull", False),
                                ("image_standard__gte", 0),
                                ("image_standard__isnull", False),
                                ("input__isnull", True),
                                ("output__isnull", True),
                                ("speech_fee__isnull", True),
                                ("speech_hour__isnull", True),
                                ("token_fee__isnull", True),
                                ("unit_fee__isnull", True),
                                ("unit_rates__isnull", True),
                            ),
                            models.Q(
                                ("image_fee__isnull", True),
                                ("image_high__isnull", True),
                                ("image_low__isnull", True),
                                ("image_standard__isnull", True),
                                ("input__isnull", True),
                                ("output__isnull", True),
                                ("speech_fee__gte", 0),
                                ("speech_fee__isnull", False),
                                ("speech_hour__gte", 0),
                                ("speech_hour__isnull", False),
                                ("token_fee__isnull", True),
                                ("unit_fee__isnull", True),
                                ("unit_rates__isnull", True),
                            ),
                            models.Q(
                                ("image_fee__isnull", True),
                                ("image_high__isnull", True),
                                ("image_low__isnull", True),
                                ("image_standard__isnull", True),
                                ("input__isnull", True),
                                ("output__isnull", True),
                                ("speech_fee__isnull", True),
                                ("speech_hour__isnull", True),
                                ("token_fee__isnull", True),
                                ("unit_fee__gte", 0),
                                ("unit_fee__isnull", False),
                                ("unit_rates__isnull", False),
                                models.Func(
                                    models.F("unit_rates"),
                                    output_field=models.BooleanField(),
                                    template='jsonb_path_match(%(expressions)s, \'strict $.type() == "object" && exists($.*) && !exists($.* ? (@.type() != "number" || @ < 0 || @ != @.floor()))\')',
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="price_is_complete_and_not_negative",
                    ),
                ],
            },
        ),
    ]
